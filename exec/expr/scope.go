package expr

import (
	"errors"

	"millrace/exec/column"
)

// scope is where failures of an expression, or of a lambda's body, go.
type scope struct {
	errors column.Errors // of the whole expression; may be nil
	lambda *lambdaKernel // nil outside lambdas
}

// report tells that row i of b failed; a row of a lambda is reported as the
// outermost batch's row that it belongs to.
func (s *scope) report(b *column.Batch, i int32, what *label, err error) {
	for s.lambda != nil {
		i, b, s = s.lambda.frame.outer[i], s.lambda.call.batch, s.lambda.call.scope
	}
	if s.errors != nil {
		s.errors.RowError(b, int(i), what.String(), err)
	}
}

// failArithmetic tells that an operator failed at row i of b. In a lambda, the
// whole call that has the lambda fails.
func (s *scope) failArithmetic(b *column.Batch, i int32, what *label, err error) {
	if s.lambda != nil {
		s.lambda.call.fail(s.lambda.frame.outer[i], err)
		return
	}
	s.report(b, i, what, err)
}

var errNullOperand = errors.New("an operand is null in a lambda")

// failNulls makes rows with a null operand fail, in a lambda only: outside of
// one the result is null.
func (s *scope) failNulls(b *column.Batch, out *column.Vector, selection []int32, what *label) {
	if s.lambda == nil {
		return
	}
	for _, i := range selection {
		if out.Null(int(i)) {
			s.failArithmetic(b, i, what, errNullOperand)
		}
	}
}
