CREATE STREAM traced (
    k STRING KEY,
    v INT,
    trace BYTES HEADER('trace')
  ) WITH (KAFKA_TOPIC = 'traced', VALUE_FORMAT = 'JSON');

-- The last header of a name counts.
CREATE STREAM traces AS
  SELECT k, v, FROM_BYTES(trace, 'utf8') AS trace FROM traced;
