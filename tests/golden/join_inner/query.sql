CREATE STREAM clicks (user_id STRING KEY, page STRING)
  WITH (KAFKA_TOPIC = 'clicks', VALUE_FORMAT = 'JSON');
CREATE TABLE users (id STRING PRIMARY KEY, city STRING)
  WITH (KAFKA_TOPIC = 'users', VALUE_FORMAT = 'JSON');

-- A click meets the user's row as it is at the click's time.
CREATE STREAM located AS
  SELECT c.user_id AS user_id, c.page AS page, u.city AS city
  FROM clicks c JOIN users u ON c.user_id = u.id;
