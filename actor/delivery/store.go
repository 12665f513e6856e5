package delivery

import (
	"context"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/window"
)

// A store keeps messages until they are settled: confirmed or refused. It keeps refused messages
// until they are removed. Tests have others than the one on a journal.
//
// A producer calls the methods one at a time, Load first. Load takes the queue over: from then on
// Append and Settle fail for every other value of the same queue. Give each producer a value of
// its own. When a producer restarts, a call that it had begun may still run, with a context that is
// done, while it loads again. List and Remove may be called by any goroutine at any time.
type store interface {
	// ID names the stream of messages. It never changes.
	ID() string
	// Load returns the number up to which all messages are settled, and the messages that follow.
	// Among these, a zero Payload stands for a message that is settled already. List has those that
	// were refused; only the others were confirmed.
	Load(ctx context.Context) (settled uint64, unsettled []extension.Payload, err error)
	// Append stores messages under consecutive numbers, after the last one, all or none. An error
	// that wraps [ErrNotStorable] means that one of them can never be stored; any other error
	// fails the producer.
	Append(ctx context.Context, first uint64, messages []extension.Payload) error
	// Settle stores that all messages up to a number, and those with the numbers in beyond, are
	// settled. Refuse has stored those that were refused before.
	Settle(ctx context.Context, upTo uint64, beyond []uint64) error
	// Refuse stores refused messages, for List. A message whose number is stored already stays as
	// it is. An error that wraps [ErrRefusedFull] means that there is no room and none was stored:
	// the producer tries again every 10 s. After any other error some may be stored; it fails the
	// producer.
	Refuse(ctx context.Context, messages []Refused) error
	// List returns the refused messages that were not removed, in the order in which they were
	// refused.
	List(ctx context.Context) ([]Refused, error)
	// Remove deletes refused messages. Numbers that are not stored are ignored.
	Remove(ctx context.Context, numbers ...uint64) error
}

type ledger struct {
	window.Numbers
	stored uint64   // UpTo, as stored
	fresh  []uint64 // not stored, and beyond UpTo when they were settled
}

func (g *ledger) load(upTo uint64) {
	g.AddUpTo(upTo)
	g.stored = upTo
}

func (g *ledger) settle(first, last uint64) {
	for n := max(first, g.UpTo()+1); n <= last; n++ {
		if g.Has(n) {
			continue
		}
		if n > g.UpTo()+1 {
			g.fresh = append(g.fresh, n)
		}
		g.Add(n)
	}
}

func (g *ledger) unstored() int { return int(g.UpTo()-g.stored) + len(g.fresh) }

func (g *ledger) save() (upTo uint64, beyond []uint64) {
	for _, n := range g.fresh {
		if n > g.UpTo() {
			beyond = append(beyond, n)
		}
	}
	g.stored, g.fresh = g.UpTo(), nil
	return g.stored, beyond
}
