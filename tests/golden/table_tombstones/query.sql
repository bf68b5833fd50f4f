CREATE TABLE stock (item STRING PRIMARY KEY, pieces INT)
  WITH (KAFKA_TOPIC = 'stock', VALUE_FORMAT = 'JSON');

-- A row that stops matching, and one that is deleted, is deleted downstream;
-- a delete of what was never there is not.
CREATE TABLE scarce AS
  SELECT item, pieces FROM stock WHERE pieces < 10;
