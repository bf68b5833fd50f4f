CREATE STREAM calls (id INT KEY, moment TIMESTAMP, place STRUCT<zone STRING>)
  WITH (KAFKA_TOPIC = 'calls', PARTITIONS = 1, VALUE_FORMAT = 'JSON');

-- In 2024 the clocks of Berlin went from 02:00 to 03:00 on March 31 and from 03:00 to 02:00 on October 27.
CREATE STREAM local_calls AS
  SELECT id, CAST(moment AT TIME ZONE place->zone AS STRING) AS there, CAST(moment AT TIME ZONE 'Europe/Berlin' AS STRING) AS in_berlin,
    CONVERT_TZ(moment AT TIME ZONE 'Europe/Berlin', 'Europe/Berlin', 'UTC') = moment AS comes_back
  FROM calls;

CREATE TABLE calls_a_day AS
  SELECT FORMAT_TIMESTAMP(moment AT TIME ZONE place->zone, 'yyyy-MM-dd') AS day, COUNT(*) AS calls
  FROM calls GROUP BY FORMAT_TIMESTAMP(moment AT TIME ZONE place->zone, 'yyyy-MM-dd');
