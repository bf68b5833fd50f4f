CREATE STREAM orders (id STRING KEY, customer STRING, amount INT, status STRING)
  WITH (KAFKA_TOPIC = 'orders', VALUE_FORMAT = 'JSON');

CREATE STREAM by_customer AS SELECT * FROM orders PARTITION BY customer;
