CREATE STREAM clicks (visitor STRING KEY, page STRING, stay INT)
  WITH (KAFKA_TOPIC = 'clicks', VALUE_FORMAT = 'JSON');

-- Each visit once, when it is over.
CREATE TABLE visits AS
  SELECT visitor, COUNT(*) AS clicks, MAX(page) AS page
  FROM clicks WINDOW SESSION (30 SECONDS)
  GROUP BY visitor
  EMIT FINAL;
