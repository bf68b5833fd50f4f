package column

// MaxRows is the most rows that a batch holds: beyond it, vectors leave the
// processor's cache.
const MaxRows = 1024

// Batch is a run of rows, or of changes of table rows, in the order of one
// partition. Operators hand batches on by reference; a batch and all it holds
// is valid until the call that was given it returns.
//
// A stream's row may lack a value (its record's value was null): then it is not
// in Present and all columns but those of the key are null.
//
// A table's batch holds changes. Columns is the row after the change; a row
// that is not in Present was deleted, and only its key columns are defined.
// Before is the row before the change; a row that is not in PresentBefore did
// not exist. Key columns are the same before and after, so Before[i] is
// Columns[i] there.
type Batch struct {
	Len     int
	Columns []*Vector
	Present Bitmap

	Before        []*Vector // nil for a stream, and where no operator above needs it
	PresentBefore Bitmap

	// Selection holds the numbers of the rows that count, ascending.
	Selection []int32

	Times   []int64  // the timestamp of each row's record, ms
	Headers [][]byte // each row's encoded record headers; nil when there are none

	Partition int32   // of the input
	Offsets   []int64 // of the input; nil when unknown

	Arena *Arena
}

// SelectAll selects all rows, in memory that is reused.
func (b *Batch) SelectAll() {
	if cap(b.Selection) < b.Len {
		b.Selection = make([]int32, b.Len, max(b.Len, 64))
	}
	b.Selection = b.Selection[:b.Len]
	for i := range b.Selection {
		b.Selection[i] = int32(i)
	}
}

// Errors takes the faults of single rows and fields while a query goes on.
// Implementations count and show them with the record's place.
type Errors interface {
	// RowError reports that an expression failed at row i of the batch.
	RowError(b *Batch, i int, what string, err error)
}
