package parser

import (
	"strings"

	"millrace/sql/token"
)

// reserved holds the words that are names only when quoted: those that ksqlDB
// reserves and no others, so that its scripts keep their meaning. All other
// keywords are recognised by what stands beside them.
var reserved = wordSet(`
	SELECT FROM AS ALL DISTINCT WHERE WITHIN WINDOW GROUP BY HAVING LIMIT AT OR AND IN NOT EXISTS
	BETWEEN LIKE IS NULL TRUE FALSE YEARS MONTHS DAYS HOURS MINUTES SECONDS MILLISECOND MILLISECONDS
	TUMBLING HOPPING SIZE ADVANCE RETENTION CASE WHEN THEN ELSE END JOIN FULL OUTER INNER LEFT RIGHT ON
	WITH VALUES CREATE TABLE TOPIC STREAM STREAMS INSERT DELETE INTO DESCRIBE EXTENDED PRINT CAST LIST
	TOPICS QUERY QUERIES TERMINATE PAUSE RESUME LOAD DROP TO RENAME SAMPLE EXPORT CATALOG PROPERTIES
	BEGINNING UNSET RUN SCRIPT DECIMAL CONNECTOR CONNECTORS NAMESPACE MATERIALIZED VIEW`)

// structural holds the reserved words that build clauses and expressions.
var structural = wordSet(`
	SELECT FROM AS ALL DISTINCT WHERE WITHIN WINDOW GROUP BY HAVING LIMIT OR AND IN NOT EXISTS BETWEEN LIKE
	IS NULL TRUE FALSE CASE WHEN THEN ELSE END JOIN FULL OUTER INNER ON WITH VALUES INTO`)

// timeUnits holds the units of durations; without their S they are the names that
// the trees hold.
var timeUnits = wordSet(`
	YEAR YEARS MONTH MONTHS WEEK WEEKS DAY DAYS HOUR HOURS MINUTE MINUTES SECOND SECONDS MILLISECOND
	MILLISECONDS`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// isName tells whether t can stand where a name is wanted.
func isName(t token.Token) bool {
	return t.Kind == token.Quoted || t.Kind == token.Word && !reserved[t.Value]
}
