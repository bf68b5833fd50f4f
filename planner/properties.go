package planner

import (
	"slices"
	"strconv"
	"strings"

	"millrace/sql/ast"
	"millrace/sql/types"
)

// The properties of WITH clauses.
const (
	withTopic         = "KAFKA_TOPIC"
	withPartitions    = "PARTITIONS"
	withReplicas      = "REPLICAS"
	withRetention     = "RETENTION_MS"
	withCleanup       = "CLEANUP_POLICY"
	withFormat        = "FORMAT"
	withKeyFormat     = "KEY_FORMAT"
	withValueFormat   = "VALUE_FORMAT"
	withKeyDelim      = "KEY_DELIMITER"
	withValueDelim    = "VALUE_DELIMITER"
	withWrap          = "WRAP_SINGLE_VALUE"
	withTimestamp     = "TIMESTAMP"
	withTimeFormat    = "TIMESTAMP_FORMAT"
	withWindowType    = "WINDOW_TYPE"
	withWindowSize    = "WINDOW_SIZE"
	withQueryID       = "QUERY_ID"
	withKeySchemaID   = "KEY_SCHEMA_ID"
	withValueSchemaID = "VALUE_SCHEMA_ID"
	withKeyName       = "KEY_SCHEMA_FULL_NAME"
	withValueName     = "VALUE_SCHEMA_FULL_NAME"
	withAvroName      = "VALUE_AVRO_SCHEMA_FULL_NAME" // what VALUE_SCHEMA_FULL_NAME was called once
	withKeyNullable   = "KEY_PROTOBUF_NULLABLE_REPRESENTATION"
	withValueNullable = "VALUE_PROTOBUF_NULLABLE_REPRESENTATION"
)

// sourceProperties are those that CREATE takes.
var sourceProperties = []string{
	withTopic, withPartitions, withReplicas, withRetention, withCleanup, withFormat, withKeyFormat, withValueFormat,
	withKeyDelim, withValueDelim, withWrap, withTimestamp, withTimeFormat, withWindowType, withWindowSize,
	withKeySchemaID, withValueSchemaID, withKeyName, withValueName,
	withAvroName, withKeyNullable, withValueNullable,
}

// properties is a WITH clause by name.
type properties map[string]ast.Property

// readProperties checks the names of a WITH clause against those allowed.
func readProperties(list []ast.Property, allowed []string) (properties, error) {
	out := properties{}
	for _, p := range list {
		if !slices.Contains(allowed, p.Name) {
			e := types.Errorf(types.CodeProperty, "unknown property %s", p.Name).At(p.Position)
			if near := types.Nearest(p.Name, allowed); near != "" {
				return nil, e.WithHint("did you mean %s?", near)
			}
			return nil, e.WithHint("known are %s", strings.Join(allowed, ", "))
		}
		if _, twice := out[p.Name]; twice {
			return nil, types.Errorf(types.CodeProperty, "property %s stands twice", p.Name).At(p.Position)
		}
		out[p.Name] = p
	}
	return out, nil
}

// text is a property's value; ok is false when it was not given.
func (ps properties) text(name string) (value string, at types.Position, ok bool) {
	p, ok := ps[name]
	return p.Value, p.ValuePosition, ok
}

// number is a property that must be a whole number of at least least.
func (ps properties) number(name string, least int64) (int64, bool, error) {
	p, ok := ps[name]
	if !ok {
		return 0, false, nil
	}
	v, err := strconv.ParseInt(p.Value, 10, 64)
	if err != nil || v < least {
		return 0, false, types.Errorf(types.CodeProperty, "%s must be a whole number of at least %d, not '%s'",
			name, least, p.Value).At(p.ValuePosition)
	}
	return v, true, nil
}

// flag is a property that must be true or false.
func (ps properties) flag(name string) (value, given bool, err error) {
	p, ok := ps[name]
	if !ok {
		return false, false, nil
	}
	switch strings.ToUpper(p.Value) {
	case "TRUE":
		return true, true, nil
	case "FALSE":
		return false, true, nil
	}
	return false, false, types.Errorf(types.CodeProperty, "%s must be true or false, not '%s'", name, p.Value).At(p.ValuePosition)
}

// topicConfig are the properties that configure the topic itself.
func (ps properties) topicConfig() (map[string]string, error) {
	config := map[string]string{}
	retention, ok, err := ps.number(withRetention, -1)
	if err != nil {
		return nil, err
	}
	if ok {
		config["retention.ms"] = strconv.FormatInt(retention, 10)
	}
	if policy, at, ok := ps.text(withCleanup); ok {
		policy = strings.ToLower(policy)
		for part := range strings.SplitSeq(policy, ",") {
			if part != "compact" && part != "delete" {
				return nil, types.Errorf(types.CodeProperty, "CLEANUP_POLICY must be compact, delete or compact,delete, not '%s'",
					policy).At(at)
			}
		}
		config["cleanup.policy"] = policy
	}
	return config, nil
}
