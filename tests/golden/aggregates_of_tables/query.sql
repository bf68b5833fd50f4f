SET 'ksql.functions.collect_list.limit' = '2';

CREATE TABLE staff (id INT PRIMARY KEY, team STRING, pay INT)
  WITH (KAFKA_TOPIC = 'staff', VALUE_FORMAT = 'JSON');

-- Each aggregate takes a row out again when the table changes.
CREATE TABLE teams AS
  SELECT team, MIN(pay) AS least, MAX(pay) AS most, TOPK(pay, id, 2) AS best, COLLECT_LIST(pay) AS two,
    COLLECT_SET(pay) AS pays, COUNT_DISTINCT(pay) AS n, EARLIEST_BY_OFFSET(pay) AS first, LATEST_BY_OFFSET(pay) AS last,
    TOPKDISTINCT(pay, 2) AS distinct_best, ATTR(pay) AS same, STDDEV_SAMPLE(pay) AS deviation, CORRELATION(id, pay) AS correlation
  FROM staff GROUP BY team;
