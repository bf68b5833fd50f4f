CREATE STREAM readings (sensor INT KEY, room STRING, degrees DOUBLE)
  WITH (KAFKA_TOPIC = 'readings', VALUE_FORMAT = 'JSON');

-- The warmest reading of each room within ten seconds, once nothing can change it.
CREATE TABLE warmest AS
  SELECT room, MAX(degrees) AS degrees, COUNT(*) AS readings
  FROM readings WINDOW SLIDING (SIZE 10 SECONDS, GRACE PERIOD 2 SECONDS)
  GROUP BY room
  EMIT FINAL;
