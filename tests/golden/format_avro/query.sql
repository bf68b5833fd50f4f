-- The columns come from the schemas of the topic; the result gets a schema of its own.
CREATE STREAM trades WITH (KAFKA_TOPIC = 'trades', FORMAT = 'AVRO');
CREATE TABLE per_side AS
  SELECT side, COUNT(*) AS trades, SUM(price) AS turnover, LATEST_BY_OFFSET(venue->city) AS last_city, MAX(happened) AS latest
  FROM trades GROUP BY side;
CREATE STREAM tagged AS
  SELECT rowkey, side, tags[1] AS first_tag, limits['day'] AS day_limit, venue FROM trades WHERE tags IS NOT NULL;
