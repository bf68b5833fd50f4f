CREATE STREAM m (k STRING KEY, g STRING, v INT, d DOUBLE)
  WITH (KAFKA_TOPIC = 'm', VALUE_FORMAT = 'JSON');

-- Aggregates leave nulls out; COUNT(*) counts rows.
CREATE TABLE sums AS
  SELECT g, COUNT(*) AS n, COUNT(v) AS values_given, SUM(v) AS total, AVG(v) AS average,
    MIN(v) AS least, MAX(v) AS most, MAX(d) AS most_d
  FROM m GROUP BY g;
