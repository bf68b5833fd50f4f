CREATE STREAM people (id INT KEY, first STRING, last STRING, born INT)
  WITH (KAFKA_TOPIC = 'people', VALUE_FORMAT = 'JSON', KEY_FORMAT = 'JSON');

CREATE STREAM named AS
  SELECT
    id,
    UCASE(first) || ' ' || last AS name,
    2026 - born AS age,
    LEN(last) AS letters,
    AS_VALUE(id) AS id_copy,
    COALESCE(first, last, 'unknown') AS short_name,
    ROWTIME AS time_of_record
  FROM people;
