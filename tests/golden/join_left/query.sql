CREATE STREAM clicks (user_id STRING KEY, page STRING)
  WITH (KAFKA_TOPIC = 'clicks', VALUE_FORMAT = 'JSON');
CREATE TABLE users (id STRING PRIMARY KEY, city STRING)
  WITH (KAFKA_TOPIC = 'users', VALUE_FORMAT = 'JSON');

-- Clicks of users who are not known, not yet or no more, get nulls.
CREATE STREAM located AS
  SELECT c.user_id AS user_id, c.page AS page, u.id AS known_id, COALESCE(u.city, 'nowhere') AS city
  FROM clicks c LEFT JOIN users u ON c.user_id = u.id;
