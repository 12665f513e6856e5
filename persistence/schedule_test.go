package persistence_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

// A nudge is a command of actors that have timers.
type nudge struct{ Text string }

func init() { actor.RegisterType[nudge]("persistence_test.nudge") }

type nudgeOptions = persistence.Options[nudge, said, string]

// A bell is the environment of an actor that has timers. It notes which of their messages come, and
// when.
type bell struct {
	*testing.T
	system *actor.System
	store  persistence.Journal
	probe  *testkit.Probe[string]
	begun  time.Time
	handle func(heard string, n nudge) persistence.Effect[said]
	opts   nudgeOptions

	mu   sync.Mutex // guards all below
	rung []string
	last persistence.Timer
}

// inBell runs test with a journal that blocks, and with one that need not be waited for.
func inBell(t *testing.T, test func(b *bell)) {
	t.Helper()
	for name, present := range map[string]func(*journal.Memory) persistence.Journal{
		"waiting": func(j *journal.Memory) persistence.Journal { return j },
		"paused":  func(j *journal.Memory) persistence.Journal { return asyncTimers{j} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := testkit.NewSystem(t)
				test(&bell{T: t, system: s, store: present(journal.NewMemory()), probe: testkit.NewProbe[string](t, s), begun: time.Now()})
			})
		})
	}
}

// asyncTimers is a journal whose appends need not be waited for, and take a millisecond.
type asyncTimers struct{ *journal.Memory }

func (a asyncTimers) AppendAsync(req journal.AppendRequest, done func(error)) journal.Call {
	c := &call{cancel: func(error) {}, done: done}
	time.AfterFunc(time.Millisecond, func() { c.answer(a.Append(context.Background(), []journal.AppendRequest{req})[0]) })
	return c
}

func (b *bell) behavior() actor.Behavior[nudge] {
	return behaviors.EventSourced("bell", b.store, "", hear, func(ctx *actor.Context[nudge], heard string, n nudge) persistence.Effect[said] {
		if n.Text == "stop" {
			return persistence.Stop
		}
		if t, rung := persistence.TimerOf(ctx); rung {
			b.note(t, n)
		}
		return b.handle(heard, n)
	}, b.opts)
}

func (b *bell) note(t persistence.Timer, n nudge) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rung = append(b.rung, fmt.Sprintf("%s=%s#%d +%v", t.Key, n.Text, t.Attempt, time.Since(b.begun).Truncate(time.Second)))
	b.last = t
}

// spawn starts the actor, restarted ten seconds after a failure.
func (b *bell) spawn() actor.ActorRef[nudge] {
	return actor.Spawn(b.system, behaviors.Supervise(b.behavior(), actor.Strategy{Backoff: actor.Backoff{Min: 10 * time.Second, Max: 10 * time.Second}}), "")
}

func (b *bell) stop(ref actor.ActorRef[nudge]) {
	b.Helper()
	ref.Tell(nudge{"stop"})
	b.probe.ExpectTerminated(ref)
}

func (b *bell) in(d time.Duration) time.Time { return b.begun.Add(d) }

// heard returns the messages of timers that have come, each as key=text#attempt +when.
func (b *bell) heard() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rung
}

func (b *bell) stored() (keys []string) {
	b.Helper()
	store, keeps := journal.As[journal.TimerStore](b.store)
	require.True(b, keeps)
	all, err := store.Timers(b.Context(), "bell")
	require.NoError(b, err)
	for _, t := range all {
		keys = append(keys, t.Key)
	}
	return keys
}

func (b *bell) schedule(key string, after time.Duration) persistence.Effect[said] {
	return persistence.Schedule[said](key, b.in(after), nudge{key})
}

func TestATimerIsStoredWithItsEventsAndComesWhenItIsDue(t *testing.T) {
	inBell(t, func(b *bell) {
		b.handle = func(_ string, n nudge) persistence.Effect[said] {
			if n.Text == "begin" {
				return persistence.Persist(said{"a"}).Schedule("later", b.in(time.Hour), nudge{"x"}).Schedule("soon", b.in(time.Minute), nudge{"y"})
			}
			return persistence.Persist(said{"b"})
		}
		b.spawn().Tell(nudge{"begin"})
		time.Sleep(time.Second)
		require.Equal(b, []string{"soon", "later"}, b.stored())
		time.Sleep(3 * time.Hour)
		require.Equal(b, []string{"soon=y#1 +1m0s", "later=x#1 +1h0m0s"}, b.heard())
		require.Equal(b, persistence.Timer{Key: "later", Due: b.in(time.Hour).UTC(), Attempt: 1}, b.last)
		require.Empty(b, b.stored())
	})
}

func TestATimerMayBeDueAtAnyTime(t *testing.T) {
	inBell(t, func(b *bell) {
		b.handle = func(_ string, n nudge) persistence.Effect[said] {
			if n.Text == "begin" {
				return persistence.Schedule[said]("zero", time.Time{}, nudge{"x"}).
					Schedule("long ago", time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC), nudge{"y"}).
					Schedule("one day", time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC), nudge{"z"}).
					Schedule("never", time.Unix(1<<62, 0), nudge{"z"})
			}
			return persistence.None
		}
		b.spawn().Tell(nudge{"begin"})
		time.Sleep(time.Hour)
		require.ElementsMatch(b, []string{"zero=x#1 +0s", "long ago=y#1 +0s"}, b.heard())
		require.Equal(b, []string{"never", "one day"}, b.stored())
	})
}

func TestATimerComesAgainAfterACrashAndTellsItsAttempt(t *testing.T) {
	inBell(t, func(b *bell) {
		b.handle = func(_ string, n nudge) persistence.Effect[said] {
			switch {
			case n.Text == "begin":
				return b.schedule("k", time.Minute)
			case len(b.heard()) < 3:
				panic("boom")
			}
			return persistence.None
		}
		b.spawn().Tell(nudge{"begin"})
		time.Sleep(time.Hour)
		require.Equal(b, []string{"k=k#1 +1m0s", "k=k#2 +1m10s", "k=k#3 +1m20s"}, b.heard())
		require.Empty(b, b.stored())
	})
}

func TestATimerComesAgainThoughSupervisionResumes(t *testing.T) {
	inBell(t, func(b *bell) {
		b.handle = func(_ string, n nudge) persistence.Effect[said] {
			switch {
			case n.Text == "begin":
				return b.schedule("k", time.Minute)
			case len(b.heard()) < 3:
				panic("boom")
			}
			return persistence.None
		}
		b.opts.OnPersistFailure = actor.Backoff{Min: 4 * time.Second, Max: time.Minute}
		ref := actor.Spawn(b.system, behaviors.Supervise(b.behavior(), actor.Strategy{Decide: func(error) actor.Directive { return actor.Resume }}), "")
		ref.Tell(nudge{"begin"})
		time.Sleep(80 * time.Second)
		require.Equal(b, []string{"k=k#1 +1m0s", "k=k#2 +1m4s", "k=k#3 +1m12s"}, b.heard())
	})
}

func TestATimerWhoseEffectIsRejectedComesAgainThoughSupervisionResumes(t *testing.T) {
	inBell(t, func(b *bell) {
		b.handle = func(_ string, n nudge) persistence.Effect[said] {
			switch {
			case n.Text == "begin":
				return b.schedule("k", time.Minute)
			case len(b.heard()) == 1:
				return persistence.Persist(said{"a"}).Schedule("", b.in(0), n) // which no journal takes
			}
			return persistence.None
		}
		b.opts.OnPersistFailure = actor.Backoff{Min: 4 * time.Second, Max: time.Minute}
		ref := actor.Spawn(b.system, behaviors.Supervise(b.behavior(), actor.Strategy{Decide: func(error) actor.Directive { return actor.Resume }}), "")
		ref.Tell(nudge{"begin"})
		time.Sleep(time.Hour)
		require.Equal(b, []string{"k=k#1 +1m0s", "k=k#2 +1m4s"}, b.heard())
		require.Empty(b, b.stored())
	})
}

func TestTimersOutliveTheirActor(t *testing.T) {
	inBell(t, func(b *bell) {
		b.handle = func(_ string, n nudge) persistence.Effect[said] {
			if n.Text == "begin" {
				return b.schedule("missed", time.Minute).Schedule("soon", b.in(2*time.Hour), nudge{"s"})
			}
			return persistence.None
		}
		ref := b.spawn()
		ref.Tell(nudge{"begin"})
		time.Sleep(time.Second)
		b.stop(ref)
		time.Sleep(time.Hour)
		require.Empty(b, b.heard())
		b.spawn()
		time.Sleep(2 * time.Hour)
		require.Equal(b, []string{"missed=missed#1 +1h0m1s", "soon=s#1 +2h0m0s"}, b.heard())
	})
}

func TestACancelledTimerIsNeverDeliveredAgain(t *testing.T) {
	inBell(t, func(b *bell) {
		b.handle = func(_ string, n nudge) persistence.Effect[said] {
			switch n.Text {
			case "begin":
				return b.schedule("a", time.Minute).Schedule("b", b.in(time.Minute), nudge{"b"}).Schedule("c", b.in(2*time.Minute), nudge{"c"})
			case "a", "b": // the first one cancels the other, which waits in the actor by then
				return persistence.Persist(said{n.Text}).Cancel("a").Cancel("b").Cancel("c").Cancel("unknown")
			}
			return persistence.None
		}
		b.spawn().Tell(nudge{"begin"})
		time.Sleep(time.Hour)
		require.Len(b, b.heard(), 1)
		require.Empty(b, b.stored())
	})
}

func TestAKeyHasOneTimer(t *testing.T) {
	inBell(t, func(b *bell) {
		b.handle = func(_ string, n nudge) persistence.Effect[said] {
			switch n.Text {
			case "begin":
				return b.schedule("k", time.Hour)
			case "sooner":
				return persistence.Schedule[said]("k", b.in(time.Minute), nudge{"first"})
			case "first": // it schedules itself again
				return persistence.Persist(said{"a"}).Schedule("k", b.in(3*time.Minute), nudge{"second"})
			}
			return persistence.None
		}
		ref := b.spawn()
		ref.Tell(nudge{"begin"})
		ref.Tell(nudge{"sooner"})
		time.Sleep(2 * time.Hour)
		require.Equal(b, []string{"k=first#1 +1m0s", "k=second#1 +3m0s"}, b.heard())
	})
}

func TestAStashedMessageOfATimerIsAcknowledgedWhenItIsHandled(t *testing.T) {
	inBell(t, func(b *bell) {
		ready := false
		b.opts.StashCapacity = 1
		b.handle = func(_ string, n nudge) persistence.Effect[said] {
			switch {
			case n.Text == "begin":
				return b.schedule("a", time.Minute).Schedule("b", b.in(time.Minute+time.Second), nudge{"b"})
			case n.Text == "go":
				ready = true
				return persistence.UnstashAll
			case !ready:
				return persistence.Stash
			}
			return persistence.None
		}
		ref := b.spawn()
		ref.Tell(nudge{"begin"})
		time.Sleep(2 * time.Minute)
		require.Equal(b, []string{"a", "b"}, b.stored())
		ref.Tell(nudge{"go"})
		time.Sleep(time.Hour)
		require.Empty(b, b.stored())
		heard := b.heard()
		require.Equal(b, []string{"a=a#1 +1m0s", "b=b#1 +1m1s"}, heard[:2])
		require.Contains(b, heard, "a=a#1 +2m0s", "it is the same attempt")
		require.Greater(b, len(heard), 4, "the stash had no room for the other, which came again")
	})
}

func TestATimerThatCannotBeStoredStoresNothing(t *testing.T) {
	inBell(t, func(b *bell) {
		for name, effect := range map[string]persistence.Effect[said]{
			"no key":       persistence.Persist(said{"a"}).Schedule("", b.in(time.Hour), nudge{}),
			"no command":   persistence.Persist(said{"a"}).Schedule("k", b.in(time.Hour), "text"),
			"unregistered": persistence.Persist(said{"a"}).Cancel("fine").Schedule("k", b.in(time.Hour), nil),
		} {
			var rejected *persistence.RejectedError
			b.opts.OnSignal = func(_ *actor.Context[nudge], _ string, sig persistence.Signal) persistence.Effect[said] {
				if sig, is := sig.(persistence.PersistRejected); is {
					require.ErrorAs(b, sig.Err, &rejected)
				}
				return persistence.None
			}
			b.handle = func(string, nudge) persistence.Effect[said] { return effect }
			ref := actor.Spawn(b.system, b.behavior(), "")
			ref.Tell(nudge{"begin"})
			b.probe.ExpectTerminated(ref)
			require.ErrorIs(b, rejected, persistence.ErrInvalid, name)
			require.Empty(b, b.stored(), name)
		}
	})
}

// plain hides what a journal has beside the methods of every journal.
type plain struct{ persistence.Journal }

func TestAJournalWithoutTimersSaysWhichHaveThem(t *testing.T) {
	inBell(t, func(b *bell) {
		b.store = plain{b.store}
		var reason error
		b.opts.OnSignal = func(_ *actor.Context[nudge], _ string, sig persistence.Signal) persistence.Effect[said] {
			if sig, is := sig.(persistence.PersistRejected); is {
				reason = sig.Err
			}
			return persistence.None
		}
		b.handle = func(string, nudge) persistence.Effect[said] { return b.schedule("k", time.Hour) }
		ref := actor.Spawn(b.system, b.behavior(), "")
		ref.Tell(nudge{"begin"})
		b.probe.ExpectTerminated(ref)
		require.ErrorContains(b, reason, "keeps no timers; take persistence/sqlite or persistence/postgres")
	})
}

func TestADurableStateHasNoTimersAndTheErrorSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t)
		failures := make(chan error, 1)
		b := behaviors.DurableState("bell", journal.NewMemory(), "", func(*actor.Context[nudge], persistence.State[string], nudge) persistence.StateEffect[string] {
			return persistence.PersistState("a").Schedule("k", time.Now(), nudge{})
		}, persistence.StateOptions[nudge, string]{OnSignal: func(_ *actor.Context[nudge], _ persistence.State[string], sig persistence.Signal) persistence.StateEffect[string] {
			if sig, is := sig.(persistence.PersistRejected); is {
				failures <- sig.Err
			}
			return persistence.None
		}})
		actor.Spawn(s, b, "").Tell(nudge{})
		require.ErrorContains(t, <-failures, "a durable state has no stored timers; make it event-sourced")
	})
}

func TestAnActorWithATimerDoesNotPassivate(t *testing.T) {
	inBell(t, func(b *bell) {
		b.opts.PassivateAfter = time.Second
		b.handle = func(_ string, n nudge) persistence.Effect[said] {
			if n.Text == "begin" {
				return b.schedule("k", time.Hour)
			}
			return persistence.None
		}
		ref := b.spawn()
		ref.Tell(nudge{"begin"})
		b.probe.Within(2*time.Hour, func() { b.probe.ExpectTerminated(ref) })
		require.Equal(b, []string{"k=k#1 +1h0m0s"}, b.heard())
		require.Less(b, time.Since(b.begun), time.Hour+3*time.Second)
	})
}

func TestAMessageThatCannotBeDecodedStaysInTheJournal(t *testing.T) {
	inBell(t, func(b *bell) {
		claim, err := b.store.Claim(b.Context(), "bell", journal.WriterID{}, journal.Bounds{})
		require.NoError(b, err)
		store, _ := journal.As[journal.TimerStore](b.store)
		require.NoError(b, store.Append(b.Context(), []journal.AppendRequest{{ID: "bell", Epoch: claim.Epoch, Timers: []journal.TimerChange{
			{Timer: journal.Timer{Key: "strange", Due: b.in(time.Minute), Type: "unknown/1", Payload: []byte{0xa0}}},
		}}})[0])
		var failed []persistence.TimerFailed
		b.opts.OnSignal = func(_ *actor.Context[nudge], _ string, sig persistence.Signal) persistence.Effect[said] {
			if sig, is := sig.(persistence.TimerFailed); is {
				b.mu.Lock()
				defer b.mu.Unlock()
				failed = append(failed, sig)
			}
			return persistence.None
		}
		b.handle = func(_ string, n nudge) persistence.Effect[said] {
			if n.Text == "begin" {
				return b.schedule("k", time.Hour)
			}
			return persistence.None
		}
		b.spawn().Tell(nudge{"begin"})
		time.Sleep(2 * time.Hour)
		b.mu.Lock()
		defer b.mu.Unlock()
		require.Len(b, failed, 1)
		require.Equal(b, "strange", failed[0].Timer.Key)
		require.ErrorContains(b, failed[0].Err, "unknown/1")
		require.Contains(b, b.stored(), "strange")
		require.Contains(b, b.rung, "k=k#1 +1h0m0s", "others go on")
	})
}

func TestManyTimersThatAreDueAtOnceAllCome(t *testing.T) {
	inBell(t, func(b *bell) {
		const n = 1000
		b.handle = func(_ string, m nudge) persistence.Effect[said] {
			if m.Text != "begin" {
				return persistence.Persist(said{"."})
			}
			all := persistence.Effect[said](nil)
			for i := range n {
				all = all.Schedule(fmt.Sprint(i), b.in(time.Minute), nudge{"x"})
			}
			return all
		}
		ref := b.spawn()
		ref.Tell(nudge{"begin"})
		time.Sleep(2 * time.Minute)
		require.Len(b, b.heard(), n)
		require.Empty(b, b.stored())
	})
}

// aheadStore is a journal whose clock differs from the one of the host.
type aheadStore struct {
	*journal.Memory
	by *atomic.Int64
}

func (a aheadStore) Now(ctx context.Context) (time.Time, error) {
	now, err := a.Memory.Now(ctx)
	return now.Add(time.Duration(a.by.Load())), err
}

func TestTimersGoByTheClockOfTheJournal(t *testing.T) {
	for _, drift := range []time.Duration{-time.Hour, time.Hour} {
		t.Run(drift.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := testkit.NewSystem(t)
				ahead := aheadStore{journal.NewMemory(), new(atomic.Int64)}
				ahead.by.Store(int64(drift))
				b := &bell{T: t, system: s, store: ahead, probe: testkit.NewProbe[string](t, s), begun: time.Now()}
				b.handle = func(_ string, n nudge) persistence.Effect[said] {
					if n.Text == "begin" {
						return b.schedule("k", 2*time.Hour).Schedule("l", b.in(5*time.Hour), nudge{"l"})
					}
					return persistence.None
				}
				b.spawn().Tell(nudge{"begin"})
				time.Sleep(3*time.Hour + time.Minute)
				ahead.by.Store(-int64(drift)) // the clock is set
				time.Sleep(4 * time.Hour)
				require.Len(b, b.heard(), 2, "each comes once")
				require.Equal(b, fmt.Sprintf("k=k#1 +%v", 2*time.Hour-drift), b.heard()[0])
				require.Equal(b, fmt.Sprintf("l=l#1 +%v", 5*time.Hour+drift), b.heard()[1])
			})
		})
	}
}

// vagueStore loses the answer to the first append that changes timers alone.
type vagueStore struct {
	*journal.Memory
	lost *atomic.Int64
}

func (v vagueStore) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	if len(reqs[0].Records) == 0 && v.lost.Add(1) == 1 {
		return []error{persistence.ErrUnknown}
	}
	return v.Memory.Append(ctx, reqs)
}

// It might be made late, and undo a later change of the same writer. Another claim prevents that.
func TestAChangeOfTimersWhoseOutcomeIsUnknownIsNotRepeatedUnderTheSameClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t)
		b := &bell{T: t, system: s, store: vagueStore{journal.NewMemory(), new(atomic.Int64)}, probe: testkit.NewProbe[string](t, s), begun: time.Now()}
		b.handle = func(_ string, n nudge) persistence.Effect[said] {
			if n.Text == "begin" {
				return b.schedule("k", time.Minute)
			}
			return persistence.None
		}
		ref := b.spawn()
		ref.Tell(nudge{"begin"})
		time.Sleep(30 * time.Second) // it has failed, and started again
		require.Empty(b, b.stored())
		ref.Tell(nudge{"begin"})
		time.Sleep(time.Hour)
		require.Equal(b, []string{"k=k#1 +1m0s"}, b.heard())
		claim, err := b.store.Claim(b.Context(), "bell", journal.WriterID{}, journal.Bounds{})
		require.NoError(b, err)
		require.Equal(b, uint64(3), claim.Epoch)
	})
}

// askedStore counts how often it is asked for timers.
type askedStore struct {
	*journal.Memory
	asked *atomic.Int64
}

func (a askedStore) Timers(ctx context.Context, id string) ([]journal.Timer, error) {
	a.asked.Add(1)
	return a.Memory.Timers(ctx, id)
}

func TestARecoveryDoesNotAskForTimersThatItsClaimHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, store := testkit.NewSystem(t), askedStore{journal.NewMemory(), new(atomic.Int64)}
		b := &bell{T: t, system: s, store: store, probe: testkit.NewProbe[string](t, s), begun: time.Now()}
		b.handle = func(_ string, n nudge) persistence.Effect[said] {
			if n.Text == "begin" {
				return b.schedule("k", time.Minute)
			}
			return persistence.Persist(said{"a"})
		}
		b.stop(b.spawn())
		ref := b.spawn()
		ref.Tell(nudge{"begin"})
		b.stop(ref)
		require.Zero(t, store.asked.Load())
		ref = b.spawn()
		time.Sleep(time.Hour)
		b.stop(ref)
		require.Len(t, b.heard(), 1)
		require.Zero(t, store.asked.Load())
	})
}
