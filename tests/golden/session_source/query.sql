-- The key's window is a session: its start and end stand in the key.
CREATE STREAM visits (visitor STRING KEY, clicks BIGINT)
  WITH (KAFKA_TOPIC = 'visits', VALUE_FORMAT = 'JSON', WINDOW_TYPE = 'SESSION');

CREATE STREAM lengths AS
  SELECT visitor, WINDOWSTART AS begins, WINDOWEND AS ends, WINDOWEND - WINDOWSTART AS length, clicks
  FROM visits WHERE WINDOWEND > WINDOWSTART;

CREATE TABLE totals AS
  SELECT visitor, COUNT(*) AS visits, MAX(WINDOWEND - WINDOWSTART) AS longest
  FROM visits
  GROUP BY visitor;
