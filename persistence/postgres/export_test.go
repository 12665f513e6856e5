package postgres

// AppendStatement returns the statement with which a journal appends, for comparing benchmarks.
func (j *Journal) AppendStatement() string { return j.statements.append }

// Advance returns the XOR mask that an append applies to the checksum of a head.
func Advance(from, to uint64) int32 { return advance(from, to) }
