CREATE TABLE stock WITH (KAFKA_TOPIC = 'stock', FORMAT = 'JSON_SR');
CREATE TABLE short AS SELECT rowkey, rowkey->sku AS sku, amount, shelves FROM stock WHERE amount < 3;
