package session

import (
	"context"
	"errors"

	"millrace/kafkaio/registry"
)

// askedOnce is a registry that is not asked again once it was not available: the
// statements of a script would wait for it one after the other, for nothing.
type askedOnce struct {
	registry.Registry
	fault error // an ErrUnavailable
}

// askOnce is nil for nil.
func askOnce(r registry.Registry) registry.Registry {
	if r == nil {
		return nil
	}
	return &askedOnce{Registry: r}
}

func (r *askedOnce) note(err error) error {
	if errors.Is(err, registry.ErrUnavailable) {
		r.fault = err
	}
	return err
}

// Latest implements registry.Registry.
func (r *askedOnce) Latest(ctx context.Context, subject string) (int32, registry.Schema, error) {
	if r.fault != nil {
		return 0, registry.Schema{}, r.fault
	}
	id, schema, err := r.Registry.Latest(ctx, subject)
	return id, schema, r.note(err)
}

// Schema implements registry.Registry.
func (r *askedOnce) Schema(ctx context.Context, id int32) (registry.Schema, error) {
	if r.fault != nil {
		return registry.Schema{}, r.fault
	}
	schema, err := r.Registry.Schema(ctx, id)
	return schema, r.note(err)
}

// Has implements registry.Registry.
func (r *askedOnce) Has(ctx context.Context, subject string, id int32) (bool, error) {
	if r.fault != nil {
		return false, r.fault
	}
	has, err := r.Registry.Has(ctx, subject, id)
	return has, r.note(err)
}
