package generation

import (
	"fmt"
	"math"

	"github.com/understudy-go/understudy/actor"
)

// An entry is all that a source knows of a label. It outlives forgetting, for the sake of
// its term. It is stored as it is: each stored entry takes the place of those before it.
type entry struct {
	_     struct{} `cbor:",toarray"`
	Label []byte   // bytes, as a label need not be UTF-8
	Term  uint64   // the highest that was ever claimed
	Seq   uint64
	Owned bool // a term has been claimed since it was forgotten
	Owner []byte
	Kept  bool // there is a spec
	Spec  []byte
}

func init() { actor.RegisterType[entry]("understudy.placement.generation") }

// claimTerm grants the label to owner.
func (e entry) claimTerm(owner string) (entry, error) {
	if e.Term >= math.MaxUint32 {
		return e, fmt.Errorf("%w: %d was the last term", ErrOverflow, e.Term)
	}
	e.Term, e.Seq, e.Owned, e.Owner = e.Term+1, 0, true, []byte(owner)
	return e, nil
}

// claimSeq grants it to the same owner once more.
func (e entry) claimSeq() (entry, error) {
	switch {
	case !e.Owned:
		return e, ErrNeverClaimed
	case e.Seq >= math.MaxUint32:
		return e, fmt.Errorf("%w: %d was the last of term %d, claim another term", ErrOverflow, e.Seq, e.Term)
	}
	e.Seq++
	return e, nil
}

// putSpec keeps spec, which must not change any more.
func (e entry) putSpec(spec []byte) entry {
	e.Kept, e.Spec = true, spec
	return e
}

func (e entry) forget() entry { return entry{Label: e.Label, Term: e.Term} }

func (e entry) generation() Generation { return Generation{Term: e.Term, Seq: e.Seq} }

// ownership returns who was granted the label last.
func (e entry) ownership() (Ownership, bool) {
	if !e.Owned {
		return Ownership{}, false
	}
	return Ownership{Owner: string(e.Owner), Generation: e.generation()}, true
}

// record returns what a caller may keep and change.
func (e entry) record() Record {
	o, _ := e.ownership()
	return Record{Label: string(e.Label), Spec: append([]byte(nil), e.Spec...), Ownership: o}
}
