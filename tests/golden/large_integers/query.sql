CREATE STREAM big (k BIGINT KEY, v BIGINT)
  WITH (KAFKA_TOPIC = 'big', KEY_FORMAT = 'JSON', VALUE_FORMAT = 'JSON');

-- Integers above 2^53 stay exact.
CREATE STREAM next AS SELECT k, v, v + 1 AS more FROM big;
