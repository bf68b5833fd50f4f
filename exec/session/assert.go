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

// assert executes ASSERT [NOT EXISTS] TOPIC and SCHEMA. With TIMEOUT it waits
// until the assertion holds; a script ends at one that does not.
func (s *Session) assert(ctx context.Context, n *ast.Assert) (*Result, error) {
	var look func(context.Context) (*types.Error, error)
	switch n.What {
	case "TOPIC":
		wanted, err := assertedNumbers(n)
		if err != nil {
			return nil, err
		}
		look = func(ctx context.Context) (*types.Error, error) { return s.assertTopic(ctx, n, wanted) }
	case "SCHEMA":
		id, err := s.assertedID(n)
		if err != nil {
			return nil, err
		}
		look = func(ctx context.Context) (*types.Error, error) { return s.assertSchema(ctx, n, id) }
	default:
		return nil, types.Errorf(types.CodeUnsupported, "ASSERT %s belongs to ksqlDB's test tool", n.What).At(n.Position).
			WithHint("compare inputs and outputs with: millrace test")
	}
	timeout, err := planner.Milliseconds(n.Timeout)
	if err != nil {
		return nil, err
	}
	if s.options.Log == nil {
		return &Result{Message: fmt.Sprintf("%s is not looked at.", asserted(n))}, nil
	}
	return s.await(ctx, n, time.Duration(timeout)*time.Millisecond, look)
}

// await looks until the assertion holds or the time is over.
func (s *Session) await(
	ctx context.Context, n *ast.Assert, timeout time.Duration, look func(context.Context) (*types.Error, error),
) (*Result, error) {
	deadline, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		fault, err := look(ctx)
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

// asserted names what an assertion is about.
func asserted(n *ast.Assert) string {
	switch {
	case n.What == "TOPIC":
		return "Topic " + n.Name
	case n.Name == "":
		return "Schema " + n.SchemaID
	case n.SchemaID == "":
		return "Subject " + n.Name
	}
	return fmt.Sprintf("Schema %s of subject %s", n.SchemaID, n.Name)
}

func assertedText(n *ast.Assert) string {
	if n.Not {
		return asserted(n) + " does not exist, as asserted."
	}
	return asserted(n) + " is as asserted."
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
