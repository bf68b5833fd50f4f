CREATE STREAM readings WITH (KAFKA_TOPIC = 'readings', VALUE_FORMAT = 'PROTOBUF', VALUE_SCHEMA_FULL_NAME = 'plant.Reading');
CREATE STREAM kept WITH (VALUE_PROTOBUF_NULLABLE_REPRESENTATION = 'OPTIONAL') AS
  SELECT sensor, level, place->hall AS hall, CASE WHEN level > 2 THEN note END AS note FROM readings;
CREATE STREAM plain AS
  SELECT sensor, level, CASE WHEN level > 2 THEN note END AS note, samples, place FROM readings;
CREATE STREAM bare WITH (VALUE_FORMAT = 'PROTOBUF_NOSR') AS SELECT sensor, samples FROM readings WHERE ARRAY_LENGTH(samples) > 1;
