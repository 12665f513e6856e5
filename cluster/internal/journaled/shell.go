// Package journaled runs a pure machine as an event-sourced actor, the shell of a coordinator. The
// machine decides; its decisions are facts, which a journal keeps, and effects. The shell recovers
// the ledger of all facts, hands commands to the coordinator, stores the facts of each step, and
// then carries out its effects. So nothing happens that the next coordinator does not know.
package journaled

import (
	"math"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
)

// maxAppend is about how many bytes one append to the journal has, unless one fact has more.
const maxAppend = 4 << 20

// A Config says how the facts F of a coordinator are stored. Its commands are of type C, and its
// ledger of type L, whose zero value is empty.
type Config[C, F, L any] struct {
	ID            string              // the persistence id
	Journal       persistence.Journal // nil: it forgets its facts when it ends
	With          func(L, F) L        // returns the ledger after one more fact
	SnapshotEvery int                 // facts between two snapshots, if the journal keeps snapshots
	Tick          C                   // a command without content, which the actor tells itself

	Size func(F) int // in bytes; nil for 4 KiB each
}

// JournalOf returns the journal of a system, which is the one of its node; nil if it has none.
func JournalOf(s *actor.System) persistence.Journal {
	j, _ := extension.Get[persistence.Journal](s)
	return j
}

// A Coordinator is what the shell runs. Its methods are called inside the actor. It may be a
// [Refuser].
type Coordinator[C, F, E, L any] interface {
	// Begin makes the machine from the ledger that was recovered from the journal. It is the first
	// call.
	Begin(s *Shell[C, F, E], l L) persistence.Effect[F]

	// Handle handles a command, usually by [Shell.Save] of what the machine decides. It is not
	// called while the facts of a step are being stored.
	Handle(cmd C) persistence.Effect[F]

	// Do carries out an effect whose facts are durable, other than [home.Reply].
	Do(effect E)

	// Next returns when Tick is due. It is called after each step.
	Next() (at time.Time, ok bool)
}

// A Shell is the actor of a coordinator.
type Shell[C, F, E any] struct {
	Ctx   *actor.Context[C]
	Epoch uint64 // the packed generation of the singleton

	tick    C
	size    func(F) int
	refuser Refuser[F, E] // nil if the coordinator needs all facts
	do      func(E)
	next    func() (time.Time, bool)

	pending Pending[F, E] // while there is something, everything else waits
	resume  bool          // a failure to store it has been dealt with
	waiting map[home.Token]func(value any, err error)
	last    home.Token
}

// New returns the behavior of a coordinator, for one instance of a singleton.
func New[C, F, E, L any](cfg Config[C, F, L], c Coordinator[C, F, E, L]) actor.Behavior[C] {
	s := &Shell[C, F, E]{tick: cfg.Tick, size: cfg.Size, do: c.Do, next: c.Next, waiting: map[home.Token]func(any, error){}}
	s.refuser, _ = any(c).(Refuser[F, E])
	if cfg.Journal == nil {
		cfg.Journal = journal.NewMemory()
	}
	var empty L
	options := persistence.Options[C, F, L]{StashCapacity: math.MaxInt}
	options.OnSignal = func(ctx *actor.Context[C], l L, sig persistence.Signal) persistence.Effect[F] {
		switch sig := sig.(type) {
		case persistence.RecoveryCompleted:
			s.begin(ctx)
			return c.Begin(s, l)
		case persistence.PersistRejected:
			s.refused(sig.Err)
			return persistence.None
		}
		return persistence.Unhandled
	}
	if _, saves := journal.As[journal.SnapshotStore](cfg.Journal); saves {
		options.SnapshotEvery, options.DeleteEvents = cfg.SnapshotEvery, true
	}
	handle := func(_ *actor.Context[C], _ L, cmd C) persistence.Effect[F] { return s.handle(cmd, c.Handle) }
	return behaviors.Supervise(persistence.New(cfg.ID, cfg.Journal, empty, cfg.With, handle, options), actor.Strategy{Decide: s.outlive})
}

func (s *Shell[C, F, E]) begin(ctx *actor.Context[C]) {
	epoch, err := singleton.GenerationOf(ctx).Packed()
	if err != nil {
		panic(err) // the singleton would not have started
	}
	s.Ctx, s.Epoch = ctx, epoch
}

// handle stashes commands that come while a step is being stored: what the machine has decided is
// not true yet. A tick then stores more.
func (s *Shell[C, F, E]) handle(cmd C, by func(C) persistence.Effect[F]) persistence.Effect[F] {
	switch {
	case !s.pending.Any():
		return by(cmd)
	case any(cmd) == any(s.tick):
		return s.save()
	}
	return persistence.Stash
}

// Save stores the facts of a step in appends of bounded size, and then carries out its effects.
func (s *Shell[C, F, E]) Save(facts []F, effects []E) persistence.Effect[F] {
	s.pending.Add(facts, effects)
	return s.save()
}

func (s *Shell[C, F, E]) save() persistence.Effect[F] {
	batch := s.pending.Batch(maxAppend, s.size)
	effect := persistence.Persist(batch...).Then(func() { s.saved(len(batch)) })
	if len(batch) == len(s.pending.facts) {
		return effect.ThenUnstashAll()
	}
	return effect
}

// saved continues when n facts are durable.
func (s *Shell[C, F, E]) saved(n int) {
	effects, done := s.pending.Stored(n)
	if !done {
		s.Ctx.Self().Tell(s.tick)
		return
	}
	for _, e := range effects {
		if r, replies := any(e).(home.Reply); replies {
			s.waiting[r.Token](r.Value, r.Err)
			delete(s.waiting, r.Token)
			continue
		}
		s.do(e)
	}
	const key = "tick"
	if at, ok := s.next(); ok {
		s.Ctx.After(key, max(time.Until(at), 0), s.tick)
	} else {
		s.Ctx.CancelTimer(key)
	}
}

// Await returns the token of a request, and calls answer with the [home.Reply] to that.
func (s *Shell[C, F, E]) Await(answer func(value any, err error)) home.Token {
	s.last++
	s.waiting[s.last] = answer
	return s.last
}

// refused continues when the journal rejects facts because of their content.
func (s *Shell[C, F, E]) refused(why error) {
	n := len(s.pending.Batch(maxAppend, s.size))
	if s.resume = s.pending.Refused(n, why, s.refuser, time.Now()); s.resume {
		s.Ctx.Self().Tell(s.tick)
	}
}

// outlive keeps the coordinator running when it can do without what the journal has rejected.
func (s *Shell[C, F, E]) outlive(error) actor.Directive {
	if s.resume {
		s.resume = false
		return actor.Resume
	}
	return actor.Stop
}
