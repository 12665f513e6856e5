package wire

import (
	"math"

	"github.com/understudy-go/understudy/internal/tenure"
)

// MaxTerm is the greatest term that can be packed into a generation. Members ignore records of
// higher ones.
const MaxTerm = math.MaxUint32

// A Record is what a cluster remembers of a singleton.
type Record struct {
	_        struct{} `cbor:",toarray"`
	Term     uint64   // the highest ever started
	Seq      uint64   // the last of that term that a journal has accepted; 0 unless Fenced
	Fenced   bool     // the instance of that term fences its writes by a journal
	Finished bool     // the singleton has ended for good
}

// Merge returns what both records say together: the higher term counts, of one term the higher Seq,
// Fenced once is fenced, and Finished once is finished.
func (r Record) Merge(o Record) Record {
	finished := r.Finished || o.Finished
	switch {
	case r.Term < o.Term:
		r = o
	case r.Term == o.Term:
		r.Seq, r.Fenced = max(r.Seq, o.Seq), r.Fenced || o.Fenced
	}
	r.Finished = finished
	return r
}

// Generation returns the last generation that a journal has accepted; ok is false without one.
func (r Record) Generation() (g tenure.Generation, ok bool) {
	return tenure.Generation{Term: r.Term, Seq: r.Seq}, r.Fenced
}
