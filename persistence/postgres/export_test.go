package postgres

import (
	"slices"
	"time"
)

// AppendStatement returns the statement with which a journal appends, for comparing benchmarks.
func (j *Journal) AppendStatement() string { return j.statements.append }

// WakesStatements returns the two statements that read a page of wakes.
func (j *Journal) WakesStatements() (settings, query string) { return inOrder, j.statements.wakes }

// Advance returns the XOR mask that an append applies to the checksum of a head.
func Advance(from, to uint64) int32 { return advance(from, to) }

// Versions is how many versions of the tables this package knows.
var Versions = len(migrations)

// Migrations adds migrations to the ones of this package.
func Migrations(later ...string) Option {
	return func(j *Journal) { j.migrations = append(slices.Clone(migrations), later...) }
}

// Patience sets how long a connection may be silent.
func Patience(d time.Duration) Option { return func(j *Journal) { j.patience = d } }
