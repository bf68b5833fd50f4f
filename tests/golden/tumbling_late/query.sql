CREATE STREAM bids (item STRING KEY, price INT)
  WITH (KAFKA_TOPIC = 'bids', VALUE_FORMAT = 'JSON');

-- A window of ten seconds takes bids until the stream's time is five seconds
-- beyond its end. Later ones are dropped and reported.
CREATE TABLE best AS
  SELECT item, MAX(price) AS price, COUNT(*) AS bids, WINDOWSTART AS begins, WINDOWEND AS ends
  FROM bids WINDOW TUMBLING (SIZE 10 SECONDS, GRACE PERIOD 5 SECONDS)
  GROUP BY item;
