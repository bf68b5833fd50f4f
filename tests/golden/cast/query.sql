CREATE STREAM texts (k STRING KEY, t STRING)
  WITH (KAFKA_TOPIC = 'texts', VALUE_FORMAT = 'JSON');

-- A text that does not convert gives null, which is counted and reported.
CREATE STREAM typed AS
  SELECT k,
    CAST(t AS INT) AS i,
    CAST(t AS BIGINT) AS l,
    CAST(t AS DOUBLE) AS d,
    CAST(t AS DECIMAL(6, 2)) AS m,
    CAST(t AS BOOLEAN) AS b
  FROM texts;
