package planner

import (
	"strings"

	"millrace/sql/types"
)

const (
	longestTopic   = 249 // bytes, by Kafka's rule
	longestIDPart  = 100 // bytes that a name gives to a query's id, and so to its topics
	topicNameRules = "letters, digits, '.', '_' and '-'"
)

func inTopicName(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-'
}

// checkTopicName holds the name of a topic to Kafka's rule.
func checkTopicName(name string, at types.Position) error {
	foreign := func(r rune) bool { return !inTopicName(r) }
	if name == "" {
		return types.Errorf(types.CodeProperty, "KAFKA_TOPIC is empty").At(at)
	}
	if name != "." && name != ".." && len(name) <= longestTopic && !strings.ContainsFunc(name, foreign) {
		return nil
	}
	return types.Errorf(types.CodeName, "'%s' cannot be the name of a topic", name).At(at).
		WithHint("it takes up to %d %s; give another one with WITH (KAFKA_TOPIC='..')", longestTopic, topicNameRules)
}

// idPart is a name as a part of a query's id, which is part of topic names: what
// these do not take is replaced, and what is too long is cut. The number behind
// it tells ids apart.
func idPart(name string) string {
	part := strings.Map(func(r rune) rune {
		if inTopicName(r) {
			return r
		}
		return '_'
	}, name)
	return part[:min(len(part), longestIDPart)]
}

// checkQueryID holds an id that a statement gives to the rule of topic names.
func checkQueryID(id string, at types.Position) error {
	if id != "" && id == idPart(id) {
		return nil
	}
	return types.Errorf(types.CodeProperty, "QUERY_ID takes 1 to %d %s", longestIDPart, topicNameRules).At(at)
}
