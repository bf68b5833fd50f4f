package expr

import (
	"slices"

	"millrace/exec/column"
)

// scope collects the rows on which an expression fails during one Eval.
type scope struct {
	errors column.Errors
	failed []int32
}

// fail makes row i fail; the first failure of a row is reported.
func (s *scope) fail(b *column.Batch, i int32, what string, err error) {
	if n := len(s.failed); n > 0 && s.failed[n-1] >= i {
		at, found := slices.BinarySearch(s.failed, i)
		if found {
			return
		}
		s.failed = slices.Insert(s.failed, at, i)
	} else {
		s.failed = append(s.failed, i)
	}
	if s.errors != nil {
		s.errors.RowError(b, int(i), what, err)
	}
}

// guard makes the failed rows of the scope's outermost kernel null.
func (s *scope) guard(kernel Kernel) Kernel {
	switch kernel.(type) {
	case columnKernel, *constantKernel, *parameterKernel:
		return kernel
	}
	return &guardedKernel{scope: s, inner: kernel}
}

type guardedKernel struct {
	scope *scope
	inner Kernel
}

func (k *guardedKernel) Eval(b *column.Batch, selection []int32) *column.Vector {
	k.scope.failed = k.scope.failed[:0]
	v := k.inner.Eval(b, selection)
	for _, i := range k.scope.failed {
		v.SetNull(int(i))
	}
	return v
}

type guardedPredicate struct {
	scope *scope
	inner Predicate
}

func (p *guardedPredicate) Narrow(b *column.Batch, selection []int32) []int32 {
	p.scope.failed = p.scope.failed[:0]
	selection = p.inner.Narrow(b, selection)
	if len(p.scope.failed) == 0 {
		return selection
	}
	return slices.DeleteFunc(selection, func(i int32) bool {
		_, found := slices.BinarySearch(p.scope.failed, i)
		return found
	})
}
