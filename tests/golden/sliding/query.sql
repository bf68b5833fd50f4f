CREATE STREAM logins (account STRING KEY, device STRING, failed INT)
  WITH (KAFKA_TOPIC = 'logins', VALUE_FORMAT = 'JSON');

-- Three failures within ten seconds, wherever these ten seconds lie. A window
-- that is no longer over the limit is deleted.
CREATE TABLE attacks AS
  SELECT account, SUM(failed) AS failures, COLLECT_LIST(device) AS devices, WINDOWSTART AS begins, WINDOWEND AS ends
  FROM logins WINDOW SLIDING (SIZE 10 SECONDS, GRACE PERIOD 5 SECONDS)
  GROUP BY account HAVING SUM(failed) >= 3;
