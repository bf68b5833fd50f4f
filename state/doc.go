// Package state holds what operators remember: per task a set of stores, per
// store one table of rows, or one a window.
//
// The live rows are in memory. Their durable copy is a compacted changelog
// topic, written in the same transaction as the output; a local byte store
// (Backend) is a checkpoint that makes a restart short, and takes the rows that
// do not fit the memory budget. It is filled by fuzzy checkpoints only: some
// rows after each commit, so it never holds an uncommitted row, and when all
// rows that were dirty at the begin of a round are written, the changelog
// position of the begin follows. Values are absolute, so replaying the changelog
// from there over newer rows ends at the right state.
//
// # Life of a transaction
//
// Operators look rows up (Find, FindOrAdd), announce a change (Touch, Delete)
// and change cells in place. Store.Changes gives the changelog records of
// everything changed since the last commit. When the transaction has committed,
// Store.Commit makes the changes permanent and Task.Checkpoint may follow; when
// it was aborted, Store.Rollback undoes them. All of a task's stores belong to
// one goroutine at a time.
//
// # Changelog records
//
// The first byte of a key is the kind:
//
//	1  row of a store without windows: the row's key follows
//	2  row of a window: 8 bytes window start, then the row's key
//	3  metadata: the name follows
//	4  dropped window: 8 bytes window start; the rows of the window that stand
//	   before this record in the changelog are gone
//
// A window start is big endian with its sign bit flipped, so that byte order is
// numeric order. A row's value is
//
//	version byte 1 | flags byte (1: has a variable part) | timestamp, zigzag varint |
//	Layout.Fixed bytes | variable part
//
// metadata and a dropped window have version byte 1 and the value. A null value
// is a tombstone.
//
// # Keys of the backend
//
// A zero byte alone is the position record, JSON as in the type position. All
// other keys are a byte 1, the number of the store (2 bytes, big endian) and the
// changelog key; values are those of the changelog.
package state
