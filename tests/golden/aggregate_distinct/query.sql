CREATE STREAM measures (sensor STRING, value INT, price DECIMAL(6, 2), weight DOUBLE)
  WITH (KAFKA_TOPIC = 'measures', PARTITIONS = 1, VALUE_FORMAT = 'JSON');

CREATE TABLE sensors AS
  SELECT sensor, SUM(DISTINCT value) AS sum, AVG(DISTINCT weight) AS average, SUM(DISTINCT price) AS prices,
    COUNT(DISTINCT value) AS number, COLLECT_LIST(DISTINCT value) AS all_values, MAX(DISTINCT value) AS greatest,
    TOPK(DISTINCT value, 2) AS top, STDDEV_SAMPLE(DISTINCT value) AS deviation, CORRELATION(DISTINCT value, price) AS correlation,
    SUM(DISTINCT value) FILTER (WHERE value > 1) AS sum_above
  FROM measures GROUP BY sensor;

CREATE TABLE people (id INT PRIMARY KEY, team STRING, pay INT)
  WITH (KAFKA_TOPIC = 'people', PARTITIONS = 1, VALUE_FORMAT = 'JSON');

-- A value is out when the last row with it is.
CREATE TABLE teams AS
  SELECT team, COUNT(*) AS people, SUM(DISTINCT pay) AS sum, AVG(DISTINCT pay) AS average, COUNT(DISTINCT pay) AS number
  FROM people GROUP BY team;
