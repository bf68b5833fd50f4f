CREATE STREAM payments (shop STRING, id INT, amount INT, card BOOLEAN)
  WITH (KAFKA_TOPIC = 'payments', PARTITIONS = 1, VALUE_FORMAT = 'JSON');

-- Every row counts for the group; each call takes the rows whose condition is true, so not those where it is null.
CREATE TABLE shops AS
  SELECT shop, COUNT(*) AS payments, COUNT(*) FILTER (WHERE card) AS by_card, SUM(amount) FILTER (WHERE NOT card AND amount > 10) AS cash,
    COLLECT_LIST(id) FILTER (WHERE amount >= 50) AS great, MAX(amount) FILTER (WHERE card) - MAX(amount) FILTER (WHERE NOT card) AS difference
  FROM payments GROUP BY shop;

CREATE TABLE busy_shops AS
  SELECT shop, COUNT(*) AS payments
  FROM payments WINDOW TUMBLING (SIZE 10 SECONDS, GRACE PERIOD 0 SECONDS) GROUP BY shop
  HAVING COUNT(*) FILTER (WHERE card) > 1;

CREATE TABLE stock (item INT PRIMARY KEY, place STRING, pieces INT)
  WITH (KAFKA_TOPIC = 'stock', PARTITIONS = 1, VALUE_FORMAT = 'JSON');

-- Of a table's change the row before and the row after pass or not, each by itself.
CREATE TABLE places AS
  SELECT place, COUNT(*) AS items, COUNT(*) FILTER (WHERE pieces < 5) AS scarce, MIN(pieces) FILTER (WHERE pieces > 0) AS least
  FROM stock GROUP BY place;
