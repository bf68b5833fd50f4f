// Package fn holds the SQL functions: signature, documentation and code of one
// function in one entry, one file a family.
package fn

import (
	"strings"

	"millrace/exec/column"
	"millrace/sql/types"
)

// Function is a scalar or table function with all its overloads.
type Function struct {
	Name      string // upper case
	Doc       string // one sentence
	Volatile  bool   // two calls with the same arguments may differ
	Table     bool   // a table function: the result is an ARRAY with an element for each row that it gives
	Overloads []*Overload
}

// Overload is one way of calling a function.
type Overload struct {
	// Signature is "(parameters) result" in SQL types, where single letters are
	// type variables, DECIMAL is any DECIMAL, [..] may be left out, "T..." may
	// come any number of times, also none, and "(K, V) => T" is a lambda. It
	// stands for one overload for each number of optional parameters.
	//
	// A result DECIMAL is the type of the DECIMAL arguments, or the one that
	// holds them all.
	Signature string

	// Result overrules the signature's result; the arguments are those after
	// implicit conversion, nil for lambdas.
	Result func(arguments []*types.Type) (*types.Type, error)

	// Check refuses arguments of the right types, with a reason; may be nil.
	Check func(arguments []Argument) error

	// Nulls says that the function is called for rows with null arguments too;
	// without it such a row is null.
	Nulls bool

	// Row computes row i of c.Out, which is null before. An error makes the row
	// fail.
	Row func(c *Call, i int) error

	// Rows computes all rows at once, instead of Row. It reports the rows that
	// fail with c.Fail. Nulls does not apply.
	Rows func(c *Call, rows []int32)

	function   *Function
	parameters []*pattern
	variadic   bool // the last parameter
	result     *pattern
}

// Call is a use of a function in an expression, and what the function keeps
// from row to row. One goroutine uses it.
type Call struct {
	Args    []*column.Vector // by parameter; nil for a lambda
	Lambdas []Lambda         // in order
	Out     *column.Vector   // of the result type
	Arena   *column.Arena    // for new texts
	Now     func() int64     // ms since 1970; nil: the wall clock
	Random  func() uint64    // nil: the process's source
	State   any              // the function's own, nil at first
	Fail    func(i int, err error)

	scratch scratch
}

// Lambda is a lambda argument.
type Lambda interface {
	// Evaluate computes the body for n inner rows. Parameter p of inner row e is
	// row e of parameters[p], and outer[e] is the batch's row that it belongs
	// to, which fails where the body fails. The result is indexed by inner row
	// and valid until the next call.
	Evaluate(parameters []*column.Vector, outer []int32) *column.Vector
}

// Bound is an overload chosen for argument types.
type Bound struct {
	Function   *Function
	Overload   *Overload
	Parameters []*types.Type // what each argument converts to; nil for a lambda
	Result     *types.Type
}

// text is the text argument k of row i.
func (c *Call) text(k, i int) string { return c.Args[k].Texts[i] }

// integer is the argument k of row i, of a type that is held in Ints.
func (c *Call) integer(k, i int) int64 { return c.Args[k].Ints[i] }

// double is the DOUBLE argument k of row i.
func (c *Call) double(k, i int) float64 { return c.Args[k].Doubles[i] }

// decimal is the DECIMAL argument k of row i.
func (c *Call) decimal(k, i int) types.Decimal { return c.Args[k].Decimals[i] }

// null tells whether argument k of row i is null.
func (c *Call) null(k, i int) bool { return c.Args[k].Null(i) }

// optional is the text argument k of row i, or the other text if the call has
// no such argument.
func (c *Call) optional(k, i int, otherwise string) string {
	if k >= len(c.Args) {
		return otherwise
	}
	return c.text(k, i)
}

// maxCached is how many values a call keeps: texts that are constant need one.
const maxCached = 8

// cached is what make made of the text key before, or makes now. It is how
// patterns are compiled once; a call has one kind of them.
func cached[T any](c *Call, key string, make func(key string) (T, error)) (T, error) {
	cache, ok := c.State.(*cache[T])
	if !ok {
		cache = newCache[T]()
		c.State = cache
	}
	for n := range cache.entries {
		if e := &cache.entries[n]; e.key == key {
			return e.value, e.err
		}
	}
	key = strings.Clone(key)
	value, err := make(key)
	entry := cacheEntry[T]{key: key, value: value, err: err}
	if len(cache.entries) < maxCached {
		cache.entries = append(cache.entries, entry)
	} else {
		cache.entries[cache.oldest] = entry
		cache.oldest = (cache.oldest + 1) % maxCached
	}
	return value, err
}

type cache[T any] struct {
	entries []cacheEntry[T]
	oldest  int
}

type cacheEntry[T any] struct {
	key   string
	value T
	err   error
}

func newCache[T any]() *cache[T] { return &cache[T]{} }
