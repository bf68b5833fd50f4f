package kafkaio

import (
	"fmt"
	"strings"
)

// CheckTopicName holds a topic's name to Kafka's rule.
func CheckTopicName(name string) error {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	foreign := func(r rune) bool { return !strings.ContainsRune(allowed, r) }
	if name == "" || name == "." || name == ".." || len(name) > 249 || strings.ContainsFunc(name, foreign) {
		return fmt.Errorf("topic name %q: 1 to 249 letters, digits, dots, underscores and hyphens are allowed", name)
	}
	return nil
}
