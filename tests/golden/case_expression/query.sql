CREATE STREAM readings (sensor STRING KEY, celsius DOUBLE)
  WITH (KAFKA_TOPIC = 'readings', VALUE_FORMAT = 'JSON');

CREATE STREAM rated AS
  SELECT sensor,
    CASE WHEN celsius < 0 THEN 'frost' WHEN celsius < 25 THEN 'mild' ELSE 'hot' END AS rating,
    CASE sensor WHEN 'a' THEN 1 WHEN 'b' THEN 2 END AS number
  FROM readings;
