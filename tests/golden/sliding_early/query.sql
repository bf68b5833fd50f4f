CREATE STREAM clicks (page STRING KEY, visitor INT)
  WITH (KAFKA_TOPIC = 'clicks', VALUE_FORMAT = 'JSON');

-- No window starts before 1970: clicks in the first ten seconds share a window.
CREATE TABLE visits AS
  SELECT page, COUNT(*) AS clicks, LATEST_BY_OFFSET(visitor) AS latest
  FROM clicks WINDOW SLIDING (SIZE 10 SECONDS)
  GROUP BY page;
