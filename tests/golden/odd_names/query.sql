-- Names that no topic can have, with a topic of their own; state goes by the query's id.
CREATE STREAM `lower case` (`k.1` STRING KEY, `a "b" ``c``` INT) WITH (KAFKA_TOPIC = 's', FORMAT = 'JSON');
CREATE TABLE `ö 😀` WITH (KAFKA_TOPIC = 'counts') AS
  SELECT `k.1`, COUNT(*) AS `select`, SUM(`a "b" ``c```) AS `from.x` FROM `lower case` GROUP BY `k.1`;
