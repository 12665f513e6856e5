package postgres

// AppendStatement is what a journal appends with, for benchmarks that compare.
func (j *Journal) AppendStatement() string { return j.statements.append }

// Advance is what an append adds to the checksum of a head.
func Advance(from, to uint64) int32 { return advance(from, to) }
