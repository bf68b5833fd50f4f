CREATE STREAM events (k STRING KEY, happened STRING)
  WITH (KAFKA_TOPIC = 'events', VALUE_FORMAT = 'JSON', TIMESTAMP = 'happened', TIMESTAMP_FORMAT = 'yyyy-MM-dd HH:mm:ss');

-- The column's time is the record's; one without a valid time, or with one
-- before 1970, is skipped.
CREATE TABLE daily AS
  SELECT k, COUNT(*) AS n FROM events WINDOW TUMBLING (SIZE 1 DAY, GRACE PERIOD 10 DAYS) GROUP BY k;
