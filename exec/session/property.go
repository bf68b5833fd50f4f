package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"millrace/exec/fn"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// property is a session property that has an effect.
type property struct {
	initial string // what holds when it is not set; empty: as the doc says
	doc     string
}

// knownProperties are those of the planner and of the engine, under the names
// that ksqlDB and Kafka Streams give them.
var knownProperties = map[string]property{
	"ksql.persistence.default.format.key":   {"KAFKA", "the key format of sources that give none"},
	"ksql.persistence.default.format.value": {"", "the value format of sources that give none; not set: they must give one"},
	"ksql.persistence.wrap.single.values":   {"true", "whether a single value column stands in an object"},
	"ksql.output.topic.name.prefix":         {"", "what the topics of queries begin with"},
	"ksql.sink.partitions":                  {"", "partitions of a query's topic; not set: as many as the source has"},
	"ksql.sink.replicas":                    {"", "replicas of a query's topic; not set: as many as the source has"},
	"ksql.timestamp.throw.on.invalid":       {"false", "whether a record without a valid time ends the query, instead of being skipped"},
	"ksql.new.query.planner.enabled":        {"false", "whether SELECT may leave the key out"},

	RegistryProperty:                                         {"", "addresses of the schema registry, read at the start; not set: the embedded broker has its own"},
	registryPrefix + "basic.auth.user.info":                  {"", "user:password at the schema registry, read at the start"},
	registryPrefix + "basic.auth.credentials.source":         {"", "USER_INFO or URL: where that login is, read at the start; not set: wherever it is"},
	registryPrefix + "bearer.auth.token":                     {"", "token at the schema registry, read at the start"},
	registryPrefix + "bearer.auth.credentials.source":        {"", "STATIC_TOKEN: where the token is, read at the start"},
	registryPrefix + "ssl.truststore.location":               {"", "file of certificates in PEM that the registry may have, read at the start; not set: the system's"},
	registryPrefix + "ssl.keystore.location":                 {"", "file of the own certificate and key in PEM for the registry, read at the start"},
	registryPrefix + "ssl.endpoint.identification.algorithm": {"https", "empty: the registry's certificate need not name its host; read at the start"},

	"security.protocol":                     {"PLAINTEXT", "PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL: how brokers are spoken to, read at the start"},
	"sasl.mechanism":                        {"", "PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512: the login at brokers, read at the start"},
	"sasl.username":                         {"", "the user at the brokers, read at the start"},
	"sasl.password":                         {"", "the password at the brokers, read at the start"},
	"sasl.jaas.config":                      {"", "user and password as Kafka's Java clients write them, read at the start"},
	"ssl.truststore.location":               {"", "file of trusted certificates in PEM, read at the start; not set: the system's"},
	"ssl.keystore.location":                 {"", "file of the own certificate and key in PEM, read at the start"},
	"ssl.endpoint.identification.algorithm": {"https", "empty: a broker's certificate need not name its host; read at the start"},

	"auto.offset.reset":           {"earliest", "where a query without positions begins to read: earliest or latest"},
	"processing.guarantee":        {"exactly_once_v2", "the only one there is"},
	"commit.interval.ms":          {"200", "how long output waits for its commit"},
	"max.task.idle.ms":            {"", "how long a query waits for an input that is empty"},
	"cache.max.bytes.buffering":   {"", "0: an aggregation puts out every update, else the last one before a commit"},
	"statestore.cache.max.bytes":  {"", "as cache.max.bytes.buffering"},
	"millrace.state.memory.bytes": {"0", "memory for the state of all queries; 0: no bound"},
	"num.stream.threads":          {"", "workers; not set: one a core"},
	"compression.type":            {"none", "of written records: none, gzip, snappy, lz4 or zstd"},
}

// registryPrefix begins the properties of the schema registry.
const registryPrefix = "ksql.schema.registry."

// streamsPrefix may stand before the engine's properties, as in ksqlDB.
const streamsPrefix = "ksql.streams."

// foreignPrefixes begin names of settings that belong to a ksqlDB server, to
// Kafka's Java clients or to a registry's.
var foreignPrefixes = []string{
	"ksql.", "consumer.", "producer.", "admin.", "main.consumer.", "restore.consumer.", "global.consumer.", "schema.registry.",
	"topic.", "rocksdb.",
}

// foreignProperties are settings of Kafka's Java clients without such a prefix.
var foreignProperties = []string{
	"acks", "application.server", "batch.size", "buffer.memory", "client.id", "default.api.timeout.ms", "delivery.timeout.ms",
	"enable.idempotence", "fetch.max.bytes", "fetch.max.wait.ms", "fetch.min.bytes", "heartbeat.interval.ms", "linger.ms",
	"max.block.ms", "max.partition.fetch.bytes", "max.poll.interval.ms", "max.poll.records", "max.request.size", "metadata.max.age.ms",
	"num.standby.replicas", "poll.ms", "replication.factor", "request.timeout.ms", "retries", "retry.backoff.ms", "session.timeout.ms",
	"state.cleanup.delay.ms", "state.dir", "topology.optimization", "use.exact.numeric.comparison",
}

// set executes SET.
func (s *Session) set(n *ast.SetProperty) (*Result, error) {
	name := strings.ToLower(n.Name)
	effective, err := CheckPropertyName(name)
	if err != nil {
		return nil, err
	}
	if readAtStart(name) {
		return nil, types.Errorf(types.CodeProperty, "property %s is read at the start only", n.Name).
			WithHint("start with --set '%s=..'", name)
	}
	if s.options.CheckProperty != nil {
		if err := s.options.CheckProperty(name, n.Value); err != nil {
			return nil, err
		}
	}
	s.SetProperty(name, n.Value)
	if !effective {
		return &Result{Message: fmt.Sprintf("Property %s is taken and has no effect: millrace has no such setting.", n.Name)}, nil
	}
	return &Result{Message: fmt.Sprintf("Property %s is now '%s'.", n.Name, shown(name, n.Value))}, nil
}

// readAtStart tells whether a property is about a connection, which is made
// before the first statement.
func readAtStart(name string) bool {
	name = strings.TrimPrefix(name, streamsPrefix)
	return slices.ContainsFunc([]string{registryPrefix, "security.", "sasl.", "ssl."},
		func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// unset executes UNSET.
func (s *Session) unset(n *ast.UnsetProperty) (*Result, error) {
	if _, err := CheckPropertyName(n.Name); err != nil {
		return nil, err
	}
	delete(s.catalog.Properties, strings.ToLower(n.Name))
	return &Result{Message: fmt.Sprintf("Property %s has its default again.", n.Name)}, nil
}

// CheckPropertyName tells whether a property has an effect. Settings of ksqlDB
// servers and of Kafka's clients have none and are taken, so that scripts which
// set them run; a name that is nothing of these, or almost one that has an
// effect, is a *types.Error.
func CheckPropertyName(name string) (effective bool, err error) {
	name = strings.ToLower(name)
	bare := strings.TrimPrefix(name, streamsPrefix)
	if _, known := knownProperties[bare]; known || limitsAggregate(name) {
		return true, nil
	}
	near := types.Nearest(bare, slices.Collect(maps.Keys(knownProperties)))
	foreign := slices.Contains(foreignProperties, bare) ||
		slices.ContainsFunc(foreignPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	if foreign && !almost(bare, near) {
		return false, nil
	}
	e := types.Errorf(types.CodeProperty, "there is no property %s", name)
	if bare == "bootstrap.servers" {
		return false, e.WithHint("name the brokers with --brokers HOST:PORT when you start")
	}
	if near != "" {
		return false, e.WithHint("did you mean %s?", near)
	}
	return false, e.WithHint("SHOW PROPERTIES lists them")
}

// limitsAggregate tells whether a property bounds what an aggregate function keeps.
func limitsAggregate(name string) bool {
	return slices.ContainsFunc(fn.Aggregates(), func(a fn.Aggregate) bool { return a.LimitProperty == name })
}

// almost tells a slip of the pen from another setting: names of more than a
// few letters more or less are no slips.
func almost(name, near string) bool {
	return near != "" && max(len(name), len(near))-commonLetters(name, near) <= 2
}

// commonLetters is the length of what two names begin and end with alike.
func commonLetters(a, b string) int {
	front, back := 0, 0
	least := min(len(a), len(b))
	for front < least && a[front] == b[front] {
		front++
	}
	for back < least-front && a[len(a)-1-back] == b[len(b)-1-back] {
		back++
	}
	return front + back
}
