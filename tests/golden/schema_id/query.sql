-- The result is written with a schema that is there: its further field is filled with its default.
CREATE STREAM orders (id BIGINT KEY, `amount` INT, `city` STRING) WITH (KAFKA_TOPIC = 'orders', VALUE_FORMAT = 'JSON');
CREATE STREAM copied WITH (VALUE_FORMAT = 'AVRO', VALUE_SCHEMA_ID = 7) AS SELECT id, `amount`, `city` FROM orders;
CREATE STREAM again WITH (KAFKA_TOPIC = 'COPIED', VALUE_FORMAT = 'AVRO', VALUE_SCHEMA_ID = 7);
CREATE STREAM sums AS SELECT `city`, `channel`, `amount` + 1 AS more FROM again;
