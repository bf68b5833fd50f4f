-- The forms of values in records, through DELIMITED and back.
CREATE STREAM forms (
    k STRING KEY, b BOOLEAN, i INT, n BIGINT, d DECIMAL(6, 2), x DOUBLE, s STRING, y BYTES, day DATE, clock TIME, moment TIMESTAMP
  ) WITH (KAFKA_TOPIC = 'forms', VALUE_FORMAT = 'JSON');

CREATE STREAM lines WITH (VALUE_FORMAT = 'DELIMITED') AS SELECT * FROM forms;

CREATE STREAM objects WITH (VALUE_FORMAT = 'JSON') AS SELECT * FROM lines;
