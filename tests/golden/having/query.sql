CREATE STREAM orders (id STRING KEY, customer STRING, amount INT, status STRING)
  WITH (KAFKA_TOPIC = 'orders', VALUE_FORMAT = 'JSON');

-- A group that no longer fulfils HAVING is deleted from the table.
CREATE TABLE small_buyers AS
  SELECT customer, COUNT(*) AS orders, SUM(amount) AS total
  FROM orders GROUP BY customer HAVING SUM(amount) < 100;
