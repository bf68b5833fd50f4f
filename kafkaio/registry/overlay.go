package registry

import (
	"context"
	"errors"
)

// overlayBegin is the least id of schemas that an Overlay registers, above those
// that a registry hands out.
const overlayBegin = 1 << 30

// Overlay reads from a registry and registers nothing there: what is registered
// is seen by this Overlay only.
type Overlay struct {
	*Memory
	base Registry // nil: an empty one
}

// NewOverlay lays an Overlay over a registry, which may be nil.
func NewOverlay(base Registry) *Overlay {
	o := &Overlay{Memory: NewMemory(), base: base}
	o.Memory.next = overlayBegin
	return o
}

// Latest implements Registry.
func (o *Overlay) Latest(ctx context.Context, subject string) (int32, Schema, error) {
	id, schema, err := o.Memory.Latest(ctx, subject)
	if o.base == nil || !errors.Is(err, ErrUnknown) {
		return id, schema, err
	}
	return o.base.Latest(ctx, subject)
}

// Schema implements Registry.
func (o *Overlay) Schema(ctx context.Context, id int32) (Schema, error) {
	schema, err := o.Memory.Schema(ctx, id)
	if o.base == nil || !errors.Is(err, ErrUnknown) {
		return schema, err
	}
	return o.base.Schema(ctx, id)
}

// Has implements Registry.
func (o *Overlay) Has(ctx context.Context, subject string, id int32) (bool, error) {
	has, err := o.Memory.Has(ctx, subject, id)
	if has || err != nil || o.base == nil {
		return has, err
	}
	return o.base.Has(ctx, subject, id)
}
