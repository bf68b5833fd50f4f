package registry

import (
	"context"
	"errors"
	"sync"
)

// overlayBegin is the least id of schemas that an Overlay registers, above those
// that a registry hands out.
const overlayBegin = 1 << 30

// Overlay reads from a registry and changes nothing there: what is registered and
// deleted is seen by this Overlay only.
type Overlay struct {
	*Memory
	base    Registry // nil: an empty one
	deleted sync.Map // subjects whose schemas of the base are gone, as keys
}

// NewOverlay lays an Overlay over a registry, which may be nil.
func NewOverlay(base Registry) *Overlay {
	o := &Overlay{Memory: NewMemory(), base: base}
	o.Memory.next = overlayBegin
	return o
}

// reaches tells whether the base may be asked for a subject.
func (o *Overlay) reaches(subject string) bool {
	_, deleted := o.deleted.Load(subject)
	return o.base != nil && !deleted
}

// Latest implements Registry.
func (o *Overlay) Latest(ctx context.Context, subject string) (int32, Schema, error) {
	id, schema, err := o.Memory.Latest(ctx, subject)
	if !o.reaches(subject) || !errors.Is(err, ErrUnknown) {
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

// Delete implements Registry.
func (o *Overlay) Delete(ctx context.Context, subject string) error {
	o.deleted.Store(subject, true)
	return o.Memory.Delete(ctx, subject)
}

// Has implements Registry.
func (o *Overlay) Has(ctx context.Context, subject string, id int32) (bool, error) {
	has, err := o.Memory.Has(ctx, subject, id)
	if has || err != nil || !o.reaches(subject) {
		return has, err
	}
	return o.base.Has(ctx, subject, id)
}
