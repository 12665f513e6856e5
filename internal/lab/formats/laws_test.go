package formats

import (
	"bytes"
	"context"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

// A format has events of type E and states of type S, which the same codec encodes.
type format[E, S any] struct {
	codec   string // its name in data
	event   func(i int) E
	initial S
	apply   func(S, E) S
	older   func(v any) ([]byte, error) // v as the program before has stored it
	same    func(t *testing.T, want, got S)
}

// A put stores an event, or asks for the state.
type put[E, S any] struct {
	event   *E
	replyTo actor.ActorRef[S]
}

// A kind of actor is an entity or a durable state.
type kind[E, S any] struct {
	name     string
	behavior func(f format[E, S], in journal.Journal) actor.Behavior[put[E, S]]
}

func kinds[E, S any]() []kind[E, S] {
	return []kind[E, S]{{"entity", entity[E, S]}, {"state", durable[E, S]}}
}

func entity[E, S any](f format[E, S], in journal.Journal) actor.Behavior[put[E, S]] {
	return behaviors.EventSourced("x", in, f.initial, f.apply,
		func(_ *actor.Context[put[E, S]], s S, p put[E, S]) persistence.Effect[E] {
			if p.event == nil {
				p.replyTo.Tell(s)
				return persistence.None
			}
			return persistence.ThenReply(persistence.Persist(*p.event), p.replyTo, f.apply(s, *p.event))
		}, persistence.SnapshotEvery(2, 1))
}

func durable[E, S any](f format[E, S], in journal.Journal) actor.Behavior[put[E, S]] {
	return behaviors.DurableState("x", in, f.initial,
		func(_ *actor.Context[put[E, S]], s persistence.State[S], p put[E, S]) persistence.StateEffect[S] {
			if p.event == nil {
				p.replyTo.Tell(s.Value)
				return persistence.None
			}
			next := f.apply(s.Value, *p.event)
			return persistence.ThenReply(persistence.PersistState(next), p.replyTo, next)
		})
}

// A life is what one program does to an actor. Programs run one after the other.
type life[E, S any] struct {
	t    *testing.T
	f    format[E, S]
	kind kind[E, S]
	want S
	n    int // how many events are stored
}

// lives appends n events, each in a system of its own, so that each is read before the next.
func (l *life[E, S]) lives(in journal.Journal, n int) {
	l.t.Helper()
	for range n {
		event := l.f.event(l.n)
		l.n++
		l.want = l.f.apply(l.want, event)
		got, err := l.asks(in, &event)
		require.NoError(l.t, err)
		l.f.same(l.t, l.want, got)
	}
	l.isThere(in)
}

func (l *life[E, S]) isThere(in journal.Journal) {
	l.t.Helper()
	got, err := l.asks(in, nil)
	require.NoError(l.t, err)
	l.f.same(l.t, l.want, got)
}

// asks fails with the reason if the actor fails.
func (l *life[E, S]) asks(in journal.Journal, event *E) (S, error) {
	l.t.Helper()
	system := testkit.NewSystem(l.t, testkit.WithoutEncoding())
	var failure error
	ref := actor.Spawn(system, behaviors.Supervise(l.kind.behavior(l.f, in), actor.Strategy{
		Decide: func(err error) actor.Directive { failure = err; return actor.Stop },
	}), "")
	got, err := actor.Ask(l.t.Context(), ref, func(replyTo actor.ActorRef[S]) put[E, S] { return put[E, S]{event, replyTo} })
	require.NoError(l.t, system.Shutdown(context.Background()))
	if failure != nil {
		return got, failure
	}
	return got, err
}

// A program stores payloads as another version does, or reads what another one has stored.
type program struct {
	store
	writes, reads func(name string, payload []byte) []byte // nil: as they are
}

func (p program) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	if p.writes != nil {
		for i := range reqs {
			for k := range reqs[i].Records {
				r := &reqs[i].Records[k]
				r.Payload = p.writes(r.Type, r.Payload)
			}
		}
	}
	return p.store.Append(ctx, reqs)
}

func (p program) SaveSnapshot(ctx context.Context, id string, s journal.Snapshot) error {
	if p.writes != nil {
		s.Payload = p.writes(s.Type, s.Payload)
	}
	return p.store.SaveSnapshot(ctx, id, s)
}

func (p program) Read(ctx context.Context, id string, from, to uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for r, err := range p.store.Read(ctx, id, from, to) {
			if p.reads != nil && err == nil {
				r.Payload = p.reads(r.Type, r.Payload)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func (p program) LoadSnapshot(ctx context.Context, id string, maxSeq uint64) (s journal.Snapshot, ok bool, skipped []uint64, err error) {
	s, ok, skipped, err = p.store.LoadSnapshot(ctx, id, maxSeq)
	if p.reads != nil && ok {
		s.Payload = p.reads(s.Type, s.Payload)
	}
	return s, ok, skipped, err
}

// before is the program that has another codec, or none.
func (l *life[E, S]) before(s store) program {
	return program{store: s, writes: func(name string, payload []byte) []byte {
		v, err := codec.Decode(name, payload)
		require.NoError(l.t, err)
		data, err := l.f.older(v)
		require.NoError(l.t, err)
		return data
	}}
}

// without is a program that has not got the codec: for it the data has an unknown name.
func (l *life[E, S]) without(s store) program {
	name := []byte(l.f.codec)
	unknown := append([]byte("un"), name[2:]...)
	return program{store: s, reads: func(_ string, payload []byte) []byte { return bytes.Replace(payload, name, unknown, 1) }}
}

// stored returns the payloads of all events, and of the newest snapshot.
func (l *life[E, S]) stored(in store) (all [][]byte) {
	l.t.Helper()
	for r, err := range in.Read(l.t.Context(), "x", 1, 1<<62) {
		require.NoError(l.t, err)
		all = append(all, r.Payload)
	}
	s, ok, _, err := in.LoadSnapshot(l.t.Context(), "x", 1<<62)
	require.NoError(l.t, err)
	if ok {
		all = append(all, s.Payload)
	}
	return all
}

// areOfTheCodec returns, for each of what is stored, whether the codec has encoded it.
func (l *life[E, S]) areOfTheCodec(in store) (all []bool) {
	l.t.Helper()
	head := item(l.f.codec, nil)
	for _, payload := range l.stored(in) {
		all = append(all, bytes.HasPrefix(payload, head[:len(head)-1]))
	}
	return all
}

// item returns what the codec with that name has encoded, as it is stored.
func item(name string, data []byte) []byte {
	all := codec.AppendHead(codec.AppendHead(nil, codec.MajorTag, 49374), codec.MajorArray, 2)
	all = append(codec.AppendHead(all, codec.MajorText, uint64(len(name))), name...)
	return append(codec.AppendHead(all, codec.MajorBytes, uint64(len(data))), data...)
}

func inEachStore[E, S any](t *testing.T, f format[E, S]) {
	onEachStore(t, func(t *testing.T, open func(t *testing.T) store) {
		for _, k := range kinds[E, S]() {
			begin := func(t *testing.T) *life[E, S] { return &life[E, S]{t: t, f: f, kind: k, want: f.initial} }
			t.Run(k.name+" is read again", func(t *testing.T) {
				l, s := begin(t), open(t)
				l.lives(s, 5)
				require.NotContains(t, l.areOfTheCodec(s), false)
			})
			t.Run(k.name+" is read in both forms", func(t *testing.T) {
				l, s := begin(t), open(t)
				l.lives(l.before(s), 3)
				require.NotContains(t, l.areOfTheCodec(s), true)
				l.lives(s, 1)
				require.Contains(t, l.areOfTheCodec(s), true)
				l.lives(l.before(s), 1) // a rolling upgrade
				l.lives(s, 2)
				l.isThere(l.before(s))
			})
			t.Run(k.name+" of an unknown codec is refused", func(t *testing.T) {
				l, s := begin(t), open(t)
				l.lives(s, 3)
				before := l.stored(s)
				_, err := l.asks(l.without(s), new(f.event(3)))
				require.ErrorAs(t, err, new(*persistence.RecoveryError))
				require.ErrorContains(t, err, `another version of the program has encoded it by the codec "un`+f.codec[2:]+`", which no type here has`)
				require.Equal(t, before, l.stored(s), "nothing is written")
				l.lives(s, 1)
			})
		}
	})
}
