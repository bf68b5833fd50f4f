package session

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"millrace/planner"
	"millrace/sql/ast"
	"millrace/sql/types"
)

// assertInterval is the time between two looks of an ASSERT with TIMEOUT.
const assertInterval = 100 * time.Millisecond

// assert executes ASSERT [NOT EXISTS] TOPIC. With TIMEOUT it waits until the
// assertion holds; a script ends at one that does not.
func (s *Session) assert(ctx context.Context, n *ast.Assert) (*Result, error) {
	switch n.What {
	case "TOPIC":
	case "SCHEMA":
		return nil, types.Errorf(types.CodeUnsupported, "ASSERT SCHEMA needs a schema registry, which millrace does not use yet").At(n.Position)
	default:
		return nil, types.Errorf(types.CodeUnsupported, "ASSERT %s belongs to ksqlDB's test tool", n.What).At(n.Position).
			WithHint("compare inputs and outputs with: millrace test")
	}
	wanted, err := assertedNumbers(n)
	if err != nil {
		return nil, err
	}
	timeout, err := planner.Milliseconds(n.Timeout)
	if err != nil {
		return nil, err
	}
	if s.options.Log == nil {
		return &Result{Message: fmt.Sprintf("Topic %s is not looked at.", n.Name)}, nil
	}
	deadline, cancel := context.WithTimeout(ctx, time.Duration(timeout)*time.Millisecond)
	defer cancel()
	for {
		fault, err := s.assertTopic(ctx, n, wanted)
		if err != nil {
			return nil, err
		}
		if fault == nil {
			return &Result{Message: assertedText(n)}, nil
		}
		select {
		case <-time.After(assertInterval):
		case <-deadline.Done():
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, fault.At(n.Position)
		}
	}
}

func assertedText(n *ast.Assert) string {
	if n.Not {
		return fmt.Sprintf("Topic %s does not exist, as asserted.", n.Name)
	}
	return fmt.Sprintf("Topic %s is as asserted.", n.Name)
}

// assertedNumbers reads PARTITIONS and REPLICAS of WITH.
func assertedNumbers(n *ast.Assert) (map[string]int, error) {
	wanted := map[string]int{}
	for _, p := range n.Properties {
		if p.Name != "PARTITIONS" && p.Name != "REPLICAS" {
			return nil, types.Errorf(types.CodeProperty, "unknown property %s", p.Name).At(p.Position).
				WithHint("ASSERT TOPIC takes PARTITIONS and REPLICAS")
		}
		number, err := strconv.Atoi(p.Value)
		if err != nil || number < 1 {
			return nil, types.Errorf(types.CodeProperty, "%s must be a whole number of at least 1, not '%s'", p.Name, p.Value).At(p.ValuePosition)
		}
		wanted[p.Name] = number
	}
	return wanted, nil
}

// assertTopic looks once; fault says what is not as asserted.
func (s *Session) assertTopic(ctx context.Context, n *ast.Assert, wanted map[string]int) (fault *types.Error, err error) {
	topics, err := s.options.Log.Topics(ctx, n.Name)
	if err != nil {
		return nil, err
	}
	topic, exists := topics[n.Name]
	switch {
	case n.Not && exists:
		return types.Errorf(types.CodeStatement, "topic %s exists", n.Name), nil
	case n.Not:
		return nil, nil
	case !exists:
		return types.Errorf(types.CodeStatement, "topic %s does not exist or access to it is denied", n.Name), nil
	}
	found := map[string]int{"PARTITIONS": s.partitions(topic), "REPLICAS": topic.Replicas}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if found[name] != wanted[name] {
			thing := strings.ToLower(strings.TrimSuffix(name, "S"))
			return types.Errorf(types.CodeStatement, "topic %s has %s, not %d", n.Name, planner.Counted(found[name], thing), wanted[name]), nil
		}
	}
	return nil, nil
}
