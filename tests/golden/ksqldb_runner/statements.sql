CREATE STREAM purchases (id INT KEY, item STRING, pieces INT) WITH (KAFKA_TOPIC = 'purchases', VALUE_FORMAT = 'JSON', KEY_FORMAT = 'JSON');
CREATE STREAM bulk AS SELECT id, item, pieces FROM purchases WHERE pieces >= 10;
