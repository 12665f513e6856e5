package generations

import (
	"fmt"
	"math"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/singleton/generation"
)

// An entry is all that a source knows about a label. An entry outlives Forget, because its term
// must. The journal stores whole entries: each one replaces those stored before it.
type entry struct {
	_     struct{} `cbor:",toarray"`
	Label []byte   // bytes, because a label need not be UTF-8
	Term  uint64   // the highest term ever claimed
	Seq   uint64
	Owned bool // a term has been claimed since the last Forget
	Owner []byte
	Kept  bool // there is a spec
	Spec  []byte
}

func init() { actor.RegisterType[entry]("understudy/generations.entry/1") }

// claimTerm grants the label to owner, under the next term above floor.
func (e entry) claimTerm(owner string, floor uint64) (entry, error) {
	last := max(e.Term, floor)
	if last >= math.MaxUint32 {
		return e, fmt.Errorf("%w: no term is left after %d", generation.ErrOverflow, last)
	}
	e.Term, e.Seq, e.Owned, e.Owner = last+1, 0, true, []byte(owner)
	return e, nil
}

// claimSeq grants the label to the same owner again, under the next sequence number of its term.
func (e entry) claimSeq() (entry, error) {
	switch {
	case !e.Owned:
		return e, generation.ErrNeverClaimed
	case e.Seq >= math.MaxUint32:
		return e, fmt.Errorf("%w: %d was the last of term %d, claim another term", generation.ErrOverflow, e.Seq, e.Term)
	}
	e.Seq++
	return e, nil
}

// putSpec stores spec, which must not change afterwards.
func (e entry) putSpec(spec []byte) entry {
	e.Kept, e.Spec = true, spec
	return e
}

func (e entry) forget() entry { return entry{Label: e.Label, Term: e.Term} }

func (e entry) generation() generation.Generation {
	return generation.Generation{Term: e.Term, Seq: e.Seq}
}

func (e entry) ownership() (generation.Ownership, bool) {
	if !e.Owned {
		return generation.Ownership{}, false
	}
	return generation.Ownership{Owner: string(e.Owner), Generation: e.generation()}, true
}

// record returns a copy that the caller may keep and change.
func (e entry) record() generation.Record {
	o, _ := e.ownership()
	return generation.Record{Label: string(e.Label), Spec: append([]byte(nil), e.Spec...), Ownership: o}
}
