CREATE STREAM clicks (visitor STRING KEY, page STRING, stay INT)
  WITH (KAFKA_TOPIC = 'clicks', VALUE_FORMAT = 'JSON');

-- A visit ends half a minute after its last click. A click that joins visits
-- deletes them and puts a longer one in their place.
CREATE TABLE visits AS
  SELECT visitor, COUNT(*) AS clicks, SUM(stay) AS stay, COLLECT_LIST(page) AS pages,
    EARLIEST_BY_OFFSET(page) AS entry, LATEST_BY_OFFSET(page) AS latest, WINDOWSTART AS begins, WINDOWEND AS ends
  FROM clicks WINDOW SESSION (30 SECONDS, GRACE PERIOD 10 SECONDS)
  GROUP BY visitor
  HAVING COUNT(*) > 1;
