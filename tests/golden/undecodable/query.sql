CREATE STREAM typed (k STRING KEY, n INT, s STRUCT<x INT>)
  WITH (KAFKA_TOPIC = 'typed', VALUE_FORMAT = 'JSON');

-- A record that does not decode is skipped and reported with the field.
CREATE STREAM copy AS SELECT k, n, s->x AS x FROM typed;
