-- Delays of US flights by state and day.
--
--     go run ./cmd/millrace run docs/quickstart/flights.sql
--
-- The inputs lie beside this file; see README.md there for where they come from.

-- Facts: one record a flight. Its key is the airport it left from, its time the
-- one in the text column date.
CREATE STREAM flights (
    origin STRING KEY,
    destination STRING,
    date STRING,
    delay INT,
    distance INT
  ) WITH (
    KAFKA_TOPIC = 'flights', PARTITIONS = 4, VALUE_FORMAT = 'JSON',
    TIMESTAMP = 'date', TIMESTAMP_FORMAT = 'yyyy/MM/dd HH:mm'
  );

-- A dimension: the airports by their code.
CREATE TABLE airports (
    iata STRING PRIMARY KEY,
    name STRING,
    city STRING,
    state STRING
  ) WITH (KAFKA_TOPIC = 'airports', PARTITIONS = 4, VALUE_FORMAT = 'JSON');

LOAD 'airports.csv' INTO airports;
LOAD 'flights.jsonl' INTO flights;

-- Each flight with the state that it left from, counted by state and day. The
-- grace period says how far behind the newest flight another may come and still
-- count.
CREATE TABLE delays_by_state_and_day AS
  SELECT
    a.state AS state,
    COUNT(*) AS flights,
    ROUND(AVG(f.delay), 1) AS average_delay,
    MAX(f.delay) AS longest_delay
  FROM flights f
  JOIN airports a ON f.origin = a.iata
  WINDOW TUMBLING (SIZE 1 DAY, GRACE PERIOD 2 HOURS)
  GROUP BY a.state
  HAVING COUNT(*) >= 10
  EMIT CHANGES;
