package state

// Rows counts the rows that exist; whole is false where some of them are in the
// local copy only, which are not counted. It looks at every row.
func (s *Store) Rows() (rows int64, whole bool) {
	whole = true
	for _, t := range s.tables {
		whole = whole && !t.spilled
		for row := range t.next {
			if t.header(row).flags&(inUse|exists) == inUse|exists {
				rows++
			}
		}
	}
	return rows, whole
}
