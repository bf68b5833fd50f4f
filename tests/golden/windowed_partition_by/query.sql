-- The new key has no window; a record without a key has none either.
CREATE STREAM counts (k STRING KEY, n BIGINT)
  WITH (KAFKA_TOPIC = 'counts', FORMAT = 'JSON', WINDOW_TYPE = 'TUMBLING', WINDOW_SIZE = '1 MINUTE');

CREATE STREAM by_n AS SELECT n, k, WINDOWSTART AS ws FROM counts PARTITION BY n;
CREATE STREAM by_none AS SELECT k, n, WINDOWSTART AS ws FROM counts PARTITION BY NULL;
