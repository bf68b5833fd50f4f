CREATE STREAM clicks (visitor STRING KEY, page STRING, stay INT)
  WITH (KAFKA_TOPIC = 'clicks', VALUE_FORMAT = 'JSON');

-- Groups that are not the key: the clicks are repartitioned. Windows of the store
-- hold many sessions of a gap that is short against the grace.
CREATE TABLE bursts WITH (KEY_FORMAT = 'JSON') AS
  SELECT page, stay / 6 AS class, COUNT(*) AS n
  FROM clicks WINDOW SESSION (100 MILLISECONDS, RETENTION 2 DAYS, GRACE PERIOD 1 DAY)
  WHERE page <> 'help'
  GROUP BY page, stay / 6;
