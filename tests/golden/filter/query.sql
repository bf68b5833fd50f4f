CREATE STREAM orders (id STRING KEY, customer STRING, amount INT, status STRING)
  WITH (KAFKA_TOPIC = 'orders', VALUE_FORMAT = 'JSON');

-- WHERE keeps the rows for which it is true: not those for which it is null.
CREATE STREAM large AS
  SELECT id, customer, amount FROM orders
  WHERE amount > 100 AND status <> 'cancelled' EMIT CHANGES;
