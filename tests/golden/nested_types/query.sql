CREATE STREAM carts (
    id STRING KEY,
    buyer STRUCT<name STRING, address STRUCT<city STRING, zip STRING>>,
    items ARRAY<STRUCT<sku STRING, pieces INT>>,
    notes MAP<STRING, STRING>
  ) WITH (KAFKA_TOPIC = 'carts', VALUE_FORMAT = 'JSON');

CREATE STREAM flat AS
  SELECT id,
    buyer->name AS name,
    buyer->address->city AS city,
    ARRAY_LENGTH(items) AS kinds,
    items[1]->sku AS first_sku,
    items[-1]->pieces AS last_pieces,
    notes['gift'] AS gift,
    STRUCT(a := id, b := ARRAY[1, 2]) AS made,
    MAP('k' := buyer->name) AS named
  FROM carts;
