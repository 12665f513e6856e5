package persistence_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

// The actor of these tests hears words and remembers them all. Its commands are functions, so that
// each test defines its own.
type (
	said    struct{ Word string }
	command func(ctx *actor.Context[command], heard string) persistence.Effect[said]
	options = persistence.Options[command, said, string]
)

func init() { actor.RegisterType[said]("persistence_test.said") }

func hear(heard string, s said) string {
	if s.Word == "!" {
		panic("too loud")
	}
	return heard + s.Word
}

func obey(ctx *actor.Context[command], heard string, cmd command) persistence.Effect[said] {
	return cmd(ctx, heard)
}

func words(j persistence.Journal, opts ...persistence.Option) actor.Behavior[command] {
	return behaviors.EventSourced("words", presented(j), "", hear, obey, opts...)
}

// say stores words, and replies with each of them.
func say(to actor.ActorRef[string], words ...string) command {
	return func(*actor.Context[command], string) persistence.Effect[said] {
		var events []said
		for _, w := range words {
			events = append(events, said{w})
		}
		effect := persistence.Persist(events...)
		for _, w := range words {
			effect = persistence.ThenReply(effect, to, w)
		}
		return effect
	}
}

func recall(to actor.ActorRef[string]) command {
	return func(_ *actor.Context[command], heard string) persistence.Effect[said] {
		to.Tell("[" + heard + "]")
		return persistence.None
	}
}

// putAside stashes itself.
func putAside(*actor.Context[command], string) persistence.Effect[said] { return persistence.Stash }

func explode(*actor.Context[command], string) persistence.Effect[said] { panic("boom") }

// A world is the environment of a test: a bubble with a system, a journal whose answers the test
// decides, and a probe for replies.
type world struct {
	*testing.T
	system  *actor.System
	journal *faulty
	replies *testkit.Probe[string]
	to      actor.ActorRef[string]
}

// inBubble runs test twice: the actor waits for its appends, or pauses.
func inBubble(t *testing.T, test func(w *world), opts ...actor.Option) {
	t.Helper()
	inBubbleOf(t, func(f *faulty) persistence.Journal { return f }, test, opts...)
	t.Run("paused", func(t *testing.T) {
		inBubbleOf(t, func(f *faulty) persistence.Journal { return asyncFaulty{f} }, test, opts...)
	})
}

// inWaitingBubble runs test with an actor that waits for its appends.
func inWaitingBubble(t *testing.T, test func(w *world), opts ...actor.Option) {
	t.Helper()
	inBubbleOf(t, func(f *faulty) persistence.Journal { return f }, test, opts...)
}

func inBubbleOf(t *testing.T, present func(*faulty) persistence.Journal, test func(w *world), opts ...actor.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, append([]actor.Option{testkit.WithoutEncoding()}, opts...)...)
		replies := testkit.NewProbe[string](t, s)
		f := &faulty{Memory: journal.NewMemory(), present: present}
		test(&world{T: t, system: s, journal: f, replies: replies, to: replies.Ref()})
	})
}

// presented returns j, or what it shows to actors.
func presented(j persistence.Journal) persistence.Journal {
	if f, ok := j.(*faulty); ok && f.present != nil {
		return f.present(f)
	}
	return j
}

func (w *world) spawn(opts ...persistence.Option) actor.ActorRef[command] {
	return actor.Spawn(w.system, words(w.journal, opts...), "")
}

func (w *world) stop(ref actor.ActorRef[command]) {
	w.Helper()
	ref.Tell(func(*actor.Context[command], string) persistence.Effect[said] { return persistence.Stop })
	w.replies.ExpectTerminated(ref)
}

func (w *world) events() (all string) {
	w.Helper()
	for r, err := range w.journal.Memory.Read(w.Context(), "words", 1, 1<<62) {
		if err != nil {
			w.Fatal(err)
		}
		e, err := extension.Unpack(nil, extension.Payload{Type: r.Type, Data: r.Payload})
		if err != nil {
			w.Fatal(err)
		}
		all += e.(said).Word
	}
	return all
}

// mortal spawns b, and returns a probe that receives the reason of its failure. The actor then
// stops.
func (w *world) mortal(b actor.Behavior[command]) (actor.ActorRef[command], *testkit.Probe[error]) {
	w.Helper()
	failures := testkit.NewProbe[error](w, w.system)
	child := make(chan actor.ActorRef[command], 1)
	parent := behaviors.Setup(func(ctx *actor.Context[struct{}]) actor.Behavior[struct{}] {
		ref := actor.Spawn(ctx, b, "mortal")
		ctx.Watch(ref)
		child <- ref
		return behaviors.Ignore
	})
	actor.Spawn(w.system, parent.OnSignal(func(_ *actor.Context[struct{}], sig actor.Signal) actor.Behavior[struct{}] {
		if failed, ok := sig.(actor.ChildFailed); ok {
			failures.Ref().Tell(failed.Err)
		}
		return behaviors.Same
	}), "")
	return <-child, failures
}

func (w *world) deadLetters() *testkit.Probe[actor.DeadLetter] {
	w.Helper()
	p := testkit.NewProbe[actor.DeadLetter](w, w.system)
	actor.Subscribe(w.system, p.Ref())
	return p
}

// A faulty is a journal in memory whose answers the test decides: each hook is given the
// real call and may do something else. A nil hook makes the call.
type faulty struct {
	*journal.Memory
	present  func(*faulty) persistence.Journal // what actors see; nil for itself
	mu       sync.Mutex                        // guards all below
	hooks    hooks
	requests []journal.AppendRequest // all requests that were sent
	reads    []uint64                // where reading began, each time
	kept     []string                // the operations on snapshots and old events, in order
}

type hooks struct {
	claim  func(ctx context.Context, apply func() error) error
	append func(ctx context.Context, apply func() error) error
	read   func(records iter.Seq2[journal.Record, error]) iter.Seq2[journal.Record, error]
	save   func(ctx context.Context, apply func() error) error
	load   func(ctx context.Context, apply func() error) error
	delete func(ctx context.Context, apply func() error) error // of events and of snapshots

	damaged []uint64 // snapshots
}

func (f *faulty) set(h hooks) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hooks = h
}

func (f *faulty) now() hooks {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hooks
}

func (f *faulty) sent() []journal.AppendRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests
}

func (f *faulty) readFrom() []uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reads
}

func hooked(ctx context.Context, hook func(context.Context, func() error) error, apply func() error) error {
	if hook == nil {
		return apply()
	}
	return hook(ctx, apply)
}

func (f *faulty) Claim(ctx context.Context, id string, w journal.WriterID, b journal.Bounds) (c journal.Claim, err error) {
	err = hooked(ctx, f.now().claim, func() (err error) { c, err = f.Memory.Claim(ctx, id, w, b); return err })
	return c, err
}

func (f *faulty) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	f.mu.Lock()
	f.requests = append(f.requests, reqs...)
	f.mu.Unlock()
	return []error{hooked(ctx, f.now().append, func() error { return f.Memory.Append(ctx, reqs)[0] })}
}

func (f *faulty) Read(ctx context.Context, id string, from, to uint64) iter.Seq2[journal.Record, error] {
	f.mu.Lock()
	f.reads = append(f.reads, from)
	f.mu.Unlock()
	records := f.Memory.Read(ctx, id, from, to)
	if h := f.now().read; h != nil {
		return h(records)
	}
	return records
}

func (f *faulty) note(err error, format string, args ...any) error {
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.kept = append(f.kept, fmt.Sprintf(format, args...))
	}
	return err
}

func (f *faulty) noted() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.kept)
}

func (f *faulty) SaveSnapshot(ctx context.Context, id string, s journal.Snapshot) error {
	err := hooked(ctx, f.now().save, func() error { return f.Memory.SaveSnapshot(ctx, id, s) })
	return f.note(err, "saved %d", s.Seq)
}

func (f *faulty) DeleteTo(ctx context.Context, id string, epoch, seq uint64) error {
	err := hooked(ctx, f.now().delete, func() error { return f.Memory.DeleteTo(ctx, id, epoch, seq) })
	return f.note(err, "events gone to %d", seq)
}

func (f *faulty) DeleteSnapshots(ctx context.Context, id string, epoch, seq uint64, keep int) error {
	err := hooked(ctx, f.now().delete, func() error { return f.Memory.DeleteSnapshots(ctx, id, epoch, seq, keep) })
	return f.note(err, "snapshots gone to %d", seq)
}

// LoadSnapshot skips the snapshots in damaged.
func (f *faulty) LoadSnapshot(ctx context.Context, id string, maxSeq uint64) (s journal.Snapshot, ok bool, skipped []uint64, err error) {
	for {
		err = hooked(ctx, f.now().load, func() (err error) { s, ok, _, err = f.Memory.LoadSnapshot(ctx, id, maxSeq); return err })
		if !ok || !slices.Contains(f.now().damaged, s.Seq) {
			return s, ok, skipped, err
		}
		skipped, maxSeq = append(skipped, s.Seq), s.Seq-1
	}
}

// answers returns a hook that returns the answers in turn, and then makes the real calls.
func answers(errs ...error) func(context.Context, func() error) error {
	var mu sync.Mutex
	return func(_ context.Context, apply func() error) error {
		mu.Lock()
		defer mu.Unlock()
		if len(errs) == 0 {
			return apply()
		}
		err := errs[0]
		errs = errs[1:]
		return err
	}
}
