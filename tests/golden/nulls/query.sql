CREATE STREAM n (k STRING KEY, a INT, b INT)
  WITH (KAFKA_TOPIC = 'n', VALUE_FORMAT = 'JSON');

-- Logic has three values, as in the SQL standard.
CREATE STREAM logic AS
  SELECT k,
    a > b AS greater,
    (a > b) OR true AS or_true,
    (a > b) AND false AS and_false,
    NOT (a > b) AS not_greater,
    a IS NULL AS a_missing,
    a + b AS total,
    IFNULL(a, -1) AS a_or_less,
    NULLIF(a, b) AS a_unless_b
  FROM n;
