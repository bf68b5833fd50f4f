CREATE STREAM orders (id STRING KEY, customer STRING, amount INT, status STRING)
  WITH (PARTITIONS = 1, KAFKA_TOPIC = 'orders', VALUE_FORMAT = 'JSON');
CREATE TABLE customers (name STRING PRIMARY KEY, country STRING)
  WITH (KAFKA_TOPIC = 'customers', VALUE_FORMAT = 'JSON');

-- The orders' key is their id, so they go by their customer to another topic
-- first, and the result's key is the customer.
CREATE STREAM shipped AS
  SELECT o.customer AS customer, o.id AS id, o.amount AS amount, c.country AS country
  FROM orders o JOIN customers c ON o.customer = c.name;
