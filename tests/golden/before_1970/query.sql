CREATE STREAM s (k STRING KEY, t TIMESTAMP, d DATE)
  WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'JSON');

-- Times before 1970 are rounded down, not towards zero.
CREATE STREAM parts AS
  SELECT k, FORMAT_TIMESTAMP(t, 'yyyy-MM-dd HH:mm:ss.SSS') AS text, CAST(t AS DATE) AS day, CAST(t AS TIME) AS time,
    FORMAT_DATE(d, 'yyyy-MM-dd') AS date_text
  FROM s;
