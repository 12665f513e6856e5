package main

import (
	"encoding/binary"
	"hash/fnv"
	"maps"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
)

// ledgerID is the name of the ledger, and its persistence id.
const ledgerID = "ledger"

// An Entry is a record that clients write into the ledger, each at most once. A client numbers its
// entries from 1, and writes the next one when the previous one has been acknowledged. A client
// that has given up on an entry stops writing, and a new client replaces it.
type Entry struct {
	Client string
	N      uint64
}

// LedgerMsg is Add or Look.
//
//sumtype:decl
type LedgerMsg interface{ ledgerMsg() }

type (
	// Add writes an entry, once, however often it is sent.
	Add struct {
		Entry   Entry
		ReplyTo actor.ActorRef[Receipt]
	}
	// Look asks how long the ledger is.
	Look struct{ ReplyTo actor.ActorRef[Sum] }
)

func (Add) ledgerMsg()  {}
func (Look) ledgerMsg() {}

// A Receipt says that an entry is in the journal.
type Receipt struct {
	Place uint64 // its number in the ledger, from 1; 0 when the client has written more since
}

// A Sum identifies the content of a ledger by its length and a digest.
type Sum struct {
	Length uint64
	Digest uint64
}

// add returns the sum of the ledger with one more entry.
func (s Sum) add(e Entry) Sum {
	h := fnv.New64a()
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, s.Digest)) // it never fails
	_, _ = h.Write(binary.BigEndian.AppendUint64([]byte(e.Client), e.N))
	return Sum{Length: s.Length + 1, Digest: h.Sum64()}
}

// Written is the event of an Add.
type Written struct{ Entry Entry }

// Ledger is the state: the sum, and the last entry of each client, which identifies entries that
// are sent again.
type Ledger struct {
	Sum  Sum
	Last map[string]Mark
}

// A Mark is the place of the last entry of a client.
type Mark struct{ N, Place uint64 }

func init() {
	actor.RegisterType[Add]("nemesis.add")
	actor.RegisterType[Look]("nemesis.look")
	actor.RegisterType[Receipt]("nemesis.receipt")
	actor.RegisterType[Sum]("nemesis.sum")
	actor.RegisterType[Written]("nemesis.written")
	actor.RegisterType[Ledger]("nemesis.ledger")
}

func onWritten(l Ledger, w Written) Ledger {
	sum := l.Sum.add(w.Entry)
	last := maps.Clone(l.Last)
	if last == nil {
		last = make(map[string]Mark)
	}
	last[w.Entry.Client] = Mark{N: w.Entry.N, Place: sum.Length}
	return Ledger{Sum: sum, Last: last}
}

func onLedgerMsg(_ *actor.Context[LedgerMsg], l Ledger, msg LedgerMsg) persistence.Effect[Written] {
	switch msg := msg.(type) {
	case Add:
		if last := l.Last[msg.Entry.Client]; last.N >= msg.Entry.N {
			msg.ReplyTo.Tell(receiptOf(last, msg.Entry))
			return persistence.None
		}
		receipt := Receipt{Place: l.Sum.Length + 1}
		return persistence.Persist(Written{Entry: msg.Entry}).Then(func() { msg.ReplyTo.Tell(receipt) })
	case Look:
		msg.ReplyTo.Tell(l.Sum)
		return persistence.None
	}
	return persistence.Unhandled
}

// receiptOf answers for an entry that is in the ledger already.
func receiptOf(last Mark, e Entry) Receipt {
	if last.N > e.N {
		return Receipt{}
	}
	return Receipt{Place: last.Place}
}

// ledger is the singleton whose journal fences its writes.
func ledger(journal persistence.Journal) actor.Behavior[LedgerMsg] {
	return behaviors.Singleton(func() actor.Behavior[LedgerMsg] {
		return behaviors.EventSourced(ledgerID, journal, Ledger{}, onWritten, onLedgerMsg,
			persistence.Options[LedgerMsg, Written, Ledger]{SnapshotEvery: 500})
	})
}
