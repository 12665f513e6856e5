package main

import "time"

// A Write is one entry as its client saw it. Times are those of clock.
type Write struct {
	Entry    Entry
	Invoked  time.Duration // when it was first sent
	Returned time.Duration // when it was acknowledged; 0 when it never was: nobody knows
	Place    uint64        // as acknowledged; 0 when that did not say
}

// acked reports whether the client knows that the entry is in the ledger.
func (w Write) acked() bool { return w.Returned > 0 }

// A Read is one answer to Look as its client saw it.
type Read struct {
	Invoked, Returned time.Duration
	Sum               Sum
}

// A History is everything that clients did.
type History struct {
	Writes []Write
	Reads  []Read
}

// A Stored is an entry as it is in the journal.
type Stored struct {
	Entry Entry
	Seq   uint64
	Epoch uint64
}

// sumOf returns the sum of the ledger that is in the journal.
func sumOf(journal []Stored) (s Sum) {
	for _, entry := range journal {
		s = s.add(entry.Entry)
	}
	return s
}
