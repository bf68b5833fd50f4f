CREATE STREAM money (k STRING KEY, price DECIMAL(10, 2), rate DECIMAL(5, 4))
  WITH (KAFKA_TOPIC = 'money', VALUE_FORMAT = 'JSON');

CREATE STREAM priced AS
  SELECT k, price, price * rate AS tax, price + 1 AS more, ROUND(price, 1) AS rounded, CAST(price AS STRING) AS text
  FROM money;
CREATE TABLE turnover AS
  SELECT k, SUM(price) AS total FROM money GROUP BY k;
