CREATE STREAM clicks (visitor STRING, page STRING, spent INT, paid BOOLEAN)
  WITH (KAFKA_TOPIC = 'clicks', PARTITIONS = 1, VALUE_FORMAT = 'JSON');

-- The third click joins the two sessions before it: values that both hold count once, and rows that did not pass stay out.
CREATE TABLE visits AS
  SELECT visitor, COUNT(*) AS clicks, COUNT(*) FILTER (WHERE paid) AS paid, SUM(DISTINCT spent) AS spent,
    SUM(DISTINCT spent) FILTER (WHERE paid) AS paid_spent, COLLECT_LIST(page) FILTER (WHERE NOT paid) AS free_pages
  FROM clicks WINDOW SESSION (10 SECONDS) GROUP BY visitor;

CREATE TABLE recent AS
  SELECT visitor, COUNT(*) FILTER (WHERE paid) AS paid, AVG(DISTINCT spent) AS spent
  FROM clicks WINDOW SLIDING (SIZE 5 SECONDS, GRACE PERIOD 0 SECONDS) GROUP BY visitor;
