// Package planner turns parsed statements into declarations and physical
// plans. It does no I/O of its own, though Formats may ask a schema registry,
// and changes nothing: the session puts what it returns into the catalog. Every
// refusal is a *types.Error with a position; any other error says that the
// registry could not be asked.
package planner

import (
	"millrace/planner/catalog"
	"millrace/sql/types"
)

// Formats is what the planner has to know of record formats.
type Formats interface {
	// Known tells whether a format of this name exists; a *types.Error says why it
	// cannot be used.
	Known(name string) (bool, error)
	// Names lists the formats for messages.
	Names() []string
	// Check tells whether the format can hold the columns as a key or value.
	Check(format catalog.Format, key bool, columns []catalog.Column) error
	// Wraps tells whether WRAP_SINGLE_VALUE means something to the format.
	Wraps(name string) bool
	// Schemas tells whether records of the format follow a schema, and whether
	// that is kept in a registry.
	Schemas(name string) (has, registered bool)
	// Infer gives the columns of a topic's key or value by its schema, the newest
	// one or that of format.SchemaID. resolved is the format with what the schema
	// settles. A *types.Error says why there are none, any other error that the
	// registry could not be asked.
	Infer(format catalog.Format, key bool, topic string) (columns []catalog.Column, resolved catalog.Format, err error)
}

// Planner plans statements against a catalog. It is used by one goroutine.
type Planner struct {
	Catalog *catalog.Catalog
	Formats Formats
	// Service is the part of internal names that tells installations apart.
	Service string
}

// The properties that the planner reads.
const (
	propertyKeyFormat   = "ksql.persistence.default.format.key"
	propertyValueFormat = "ksql.persistence.default.format.value"
	propertyWrap        = "ksql.persistence.wrap.single.values"
	propertyTopicPrefix = "ksql.output.topic.name.prefix"
	propertyPartitions  = "ksql.sink.partitions"
	propertyReplicas    = "ksql.sink.replicas"
	propertyThrowOnTime = "ksql.timestamp.throw.on.invalid"
	propertyNewPlanner  = "ksql.new.query.planner.enabled"
)

func (p *Planner) flag(name string) bool {
	v, _ := p.Catalog.Property(name)
	return v == "true" || v == "TRUE"
}

// source finds a stream or table that a statement names.
func (p *Planner) source(name string, at types.Position) (*catalog.Source, error) {
	if s, ok := p.Catalog.Source(name); ok {
		return s, nil
	}
	e := types.Errorf(types.CodeName, "%s does not exist", name).At(at)
	var names []string
	for _, s := range p.Catalog.Sources() {
		names = append(names, s.Name)
	}
	if near := types.Nearest(name, names); near != "" {
		return nil, e.WithHint("did you mean %s?", near)
	}
	return nil, e.WithHint("create it with CREATE STREAM or CREATE TABLE")
}

// Source finds a stream or table that a statement names.
func (p *Planner) Source(name string, at types.Position) (*catalog.Source, error) {
	return p.source(name, at)
}
