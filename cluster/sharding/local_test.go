package sharding_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

// A note is a message to an entity that remembers what it has been told.
type note struct {
	Text    string
	ReplyTo actor.ActorRef[string]
}

type introduction struct{ To actor.ActorRef[note] }

type closing struct{ Reason string }

func init() {
	actor.RegisterType[note]("sharding-test.note")
	actor.RegisterType[introduction]("sharding-test.introduction")
	actor.RegisterType[noted]("sharding-test.noted")
}

type noted struct{ Text string }

// notebook replies with everything that the present incarnation has been told.
func notebook(e sharding.Entity) actor.Behavior[note] {
	var all []string
	return behaviors.Receive(func(_ *actor.Context[note], n note) actor.Behavior[note] {
		switch n.Text {
		case "fail":
			panic("as it was told")
		case "stop":
			return behaviors.Stopped[note]
		case "":
			n.ReplyTo.Tell(e.ID + ":" + strings.Join(all, " "))
		default:
			all = append(all, n.Text)
		}
		return nil
	})
}

func start(t *testing.T, s *actor.System, factory func(sharding.Entity) actor.Behavior[note], opts ...sharding.Option) *sharding.Region[note] {
	t.Helper()
	r, err := sharding.Start(s, "notebook", factory, opts...)
	require.NoError(t, err)
	return r
}

func read(t *testing.T, to actor.ActorRef[note]) string {
	t.Helper()
	got, err := tryRead(t, to)
	require.NoError(t, err)
	return got
}

func tryRead(t *testing.T, to actor.ActorRef[note]) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	return actor.Ask(ctx, to, func(r actor.ActorRef[string]) note { return note{ReplyTo: r} })
}

func inBubble(t *testing.T, f func(t *testing.T, s *actor.System)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, testkit.NewSystem(t)) })
}

func TestTheFirstMessageStartsAnEntity(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		r := start(t, s, notebook)
		r.Ref("a").Tell(note{Text: "one"})
		r.Ref("b").Tell(note{Text: "two"})
		r.Ref("a").Tell(note{Text: "three"})
		require.Equal(t, "a:one three", read(t, r.Ref("a")))
		require.Equal(t, "b:two", read(t, r.Ref("b")))
	})
}

func TestTwoTypesHaveEntitiesOfTheirOwn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		r := start(t, s, notebook)
		other, err := sharding.Start(s, "diary", notebook)
		require.NoError(t, err)
		r.Ref("7").Tell(note{Text: "one"})
		require.Equal(t, "7:", read(t, other.Ref("7")))
		require.Equal(t, "7:one", read(t, r.Ref("7")))
		require.NotEqual(t, sharding.Entity{Type: "notebook", ID: "7"}.PersistenceID(), sharding.Entity{Type: "diary", ID: "7"}.PersistenceID())
	})
}

func TestATypeHasOneMessageType(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		r := start(t, s, notebook)
		require.Same(t, r, start(t, s, notebook))
		require.PanicsWithValue(t, `sharding: type "notebook" is a *sharding.Region[github.com/understudy-go/understudy/cluster/sharding_test.note] on this node already; give it another name`, func() {
			_, _ = sharding.Start(s, "notebook", func(sharding.Entity) actor.Behavior[int] { return behaviors.Ignore[int] })
		})
	})
}

func TestEachValidIDHasAnEntityOfItsOwn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		r := start(t, s, notebook)
		ids := []string{"a/b", "a_b", "a~b", "a~7Eb", "ä", "日本", "..", "a b", "~", "%2F", "$1", strings.Repeat("x", 255), strings.Repeat("é", 127)}
		for _, id := range ids {
			require.NoError(t, sharding.ValidateID(id))
			r.Ref(id).Tell(note{Text: "for " + id})
		}
		for _, id := range ids {
			require.Equal(t, id+":for "+id, read(t, r.Ref(id)))
			require.Equal(t, r.Ref(id), actor.Resolve[note](s, r.Ref(id).String()))
		}
		for _, id := range []string{"", strings.Repeat("x", 256), "a\x00b", "\xff", "a\nb"} {
			require.Error(t, sharding.ValidateID(id))
			require.Panics(t, func() { r.Ref(id) })
		}
	})
}

func TestAnEntityKnowsWhichItIsBeforeItsFirstMessage(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		seen := make(chan sharding.Entity, 1)
		r := start(t, s, func(e sharding.Entity) actor.Behavior[note] {
			seen <- e
			return behaviors.Ignore[note]
		}, sharding.Shards(4))
		r.Ref("42").Tell(note{})
		e := <-seen
		require.Equal(t, "42", e.ID)
		require.Equal(t, "notebook", e.Type)
		require.Equal(t, "notebook|42", e.PersistenceID())
		require.Equal(t, journal.SliceOf("notebook|42")*4/journal.Slices, e.Shard)
		require.EqualValues(t, 1, e.Generation.Term)
	})
}

func TestAnIdleEntityEndsAndTheNextMessageStartsItAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		r := start(t, s, notebook, sharding.PassivateAfter(time.Minute))
		r.Ref("a").Tell(note{Text: "one"})
		time.Sleep(59 * time.Second)
		require.Equal(t, "a:one", read(t, r.Ref("a")))
		time.Sleep(59 * time.Second)
		require.Equal(t, "a:one", read(t, r.Ref("a")))
		time.Sleep(76 * time.Second)
		require.Equal(t, "a:", read(t, r.Ref("a")))
	})
}

func TestWithoutPassivationNothingEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		r := start(t, s, notebook, sharding.PassivateAfter(0))
		r.Ref("a").Tell(note{Text: "one"})
		time.Sleep(100 * time.Hour)
		require.Equal(t, "a:one", read(t, r.Ref("a")))
	})
}

func TestNoMessageIsLostOrOutOfOrderAcrossPassivations(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		var got []string
		r := start(t, s, func(sharding.Entity) actor.Behavior[note] {
			left := 3
			return behaviors.Receive(func(_ *actor.Context[note], n note) actor.Behavior[note] {
				got = append(got, n.Text)
				if left--; left == 0 {
					return behaviors.Stopped[note]
				}
				return nil
			})
		}, sharding.PassivateAfter(time.Second))
		var want []string
		for n := range 3000 {
			want = append(want, fmt.Sprint(n))
			r.Ref("a").Tell(note{Text: fmt.Sprint(n)})
			if n%7 == 0 {
				time.Sleep(time.Duration(n%5) * 300 * time.Millisecond)
			}
		}
		synctest.Wait()
		require.Equal(t, want, got)
	})
}

func TestAnEntityGetsItsStopMessageAfterEverythingElse(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		var got []string
		r := start(t, s, func(sharding.Entity) actor.Behavior[note] {
			return behaviors.Receive(func(_ *actor.Context[note], n note) actor.Behavior[note] {
				got = append(got, n.Text)
				if n.Text == "bye" {
					return behaviors.Stopped[note]
				}
				return nil
			})
		}, sharding.PassivateAfter(time.Second), sharding.StopMessage(note{Text: "bye"}))
		r.Ref("a").Tell(note{Text: "one"})
		time.Sleep(2 * time.Second)
		r.Ref("a").Tell(note{Text: "two"})
		synctest.Wait()
		require.Equal(t, []string{"one", "bye", "two"}, got)
	})
}

func TestWhoAsksAnEntityThatCannotStartLearnsWhy(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		broken := true
		r := start(t, s, func(e sharding.Entity) actor.Behavior[note] {
			if broken {
				panic("no database")
			}
			return notebook(e)
		})
		_, err := tryRead(t, r.Ref("a"))
		require.ErrorIs(t, err, sharding.ErrEntityFailed)
		require.ErrorContains(t, err, "no database")
		begun := time.Now()
		broken = false
		require.Equal(t, "a:", read(t, r.Ref("a")), "after the backoff")
		require.Less(t, time.Since(begun), 3*time.Second)
		require.Equal(t, "b:", read(t, r.Ref("b")))
	})
}

func TestAnEntityThatFailsIsStartedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		r := start(t, s, notebook)
		r.Ref("a").Tell(note{Text: "one"})
		r.Ref("a").Tell(note{Text: "fail"})
		synctest.Wait()
		r.Ref("a").Tell(note{Text: "two"})
		require.Equal(t, "a:two", read(t, r.Ref("a")))
	})
}

func TestARefTravelsInMessages(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		r := start(t, s, notebook)
		p := testkit.NewProbe[introduction](t, s)
		p.Ref().Tell(introduction{r.Ref("a")})
		got := p.Receive().To
		require.Equal(t, r.Ref("a"), got)
		got.Tell(note{Text: "one"})
		require.Equal(t, "a:one", read(t, r.Ref("a")))
	})
}

func TestAnEventSourcedEntityKeepsItsState(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		store := journal.NewMemory()
		r := start(t, s, func(e sharding.Entity) actor.Behavior[note] {
			return behaviors.EventSourced(e.PersistenceID(), store, []string(nil),
				func(all []string, n noted) []string { return append(all, n.Text) },
				func(_ *actor.Context[note], all []string, n note) persistence.Effect[noted] {
					if n.Text == "" {
						n.ReplyTo.Tell(strings.Join(all, " "))
						return persistence.None
					}
					return persistence.Persist(noted{n.Text})
				})
		}, sharding.PassivateAfter(time.Second))
		for _, text := range []string{"one", "two", "three"} {
			r.Ref("a").Tell(note{Text: text})
			time.Sleep(3 * time.Second)
		}
		require.Equal(t, "one two three", read(t, r.Ref("a")))
	})
}

func TestOptionsThatMakeNoSenseAreErrors(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		for _, o := range []sharding.Option{
			sharding.Shards(0), sharding.Shards(3), sharding.Shards(2048), sharding.PassivateAfter(-1),
			sharding.MaxEntities(-1), sharding.StopTimeout(0), sharding.Buffer(-1), sharding.StopMessage(closing{"x"}),
		} {
			_, err := sharding.Start(s, "notebook", notebook, o)
			require.Error(t, err)
		}
	})
}

func TestMessagesAfterTheEndOfTheSystemAreDeadLetters(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		r := start(t, s, notebook)
		require.Equal(t, "a:", read(t, r.Ref("a")))
		require.NoError(t, s.Shutdown(t.Context()))
		_, err := tryRead(t, r.Ref("a"))
		require.True(t, errors.Is(err, sharding.ErrStopped) || errors.Is(err, actor.ErrUnreachable), "%v", err)
	})
}

func TestMoreEntitiesThanTheLimitDoNotStayAwake(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		r := start(t, s, notebook, sharding.MaxEntities(100), sharding.PassivateAfter(time.Hour))
		for n := range 1000 {
			r.Ref(fmt.Sprint(n)).Tell(note{Text: "one"})
			synctest.Wait()
			require.Less(t, r.Stats().Awake, 150)
		}
		require.Equal(t, "999:one", read(t, r.Ref("999")))
		require.GreaterOrEqual(t, r.Stats().Awake, 90)
	})
}

func TestBeyondTheLimitThoseEndThatWereUsedLongestAgo(t *testing.T) {
	for _, shards := range []int{1, 8} {
		inBubble(t, func(t *testing.T, s *actor.System) {
			var mu sync.Mutex // guards awake
			awake := map[string]bool{}
			set := func(id string, is bool) {
				mu.Lock()
				defer mu.Unlock()
				awake[id] = is
			}
			r := start(t, s, func(e sharding.Entity) actor.Behavior[note] {
				return behaviors.Setup(func(ctx *actor.Context[note]) actor.Behavior[note] {
					set(e.ID, true)
					ctx.Defer(func() { set(e.ID, false) })
					return notebook(e)
				})
			}, sharding.Shards(shards), sharding.MaxEntities(12))
			use := func(ids ...string) {
				for _, id := range ids {
					r.Ref(id).Tell(note{Text: "hello"})
					synctest.Wait()
				}
			}
			use("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l")
			use("m", "a", "n", "d", "b", "o", "a", "p")
			maps.DeleteFunc(awake, func(_ string, is bool) bool { return !is })
			require.Equal(t, strings.Split("abdhijklmnop", ""), slices.Sorted(maps.Keys(awake)))
		})
	}
}

func TestTheLimitPassesOverEntitiesThatCannotEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		r := start(t, s, func(e sharding.Entity) actor.Behavior[note] {
			return behaviors.Setup(func(ctx *actor.Context[note]) actor.Behavior[note] {
				if strings.HasPrefix(e.ID, "parent") {
					actor.Spawn(ctx, behaviors.Ignore[string], "child")
				}
				return notebook(e)
			})
		}, sharding.Shards(1), sharding.MaxEntities(8))
		for n := range 4 {
			r.Ref(fmt.Sprint("parent", n)).Tell(note{Text: "hello"})
			synctest.Wait()
		}
		for n := range 40 {
			r.Ref(fmt.Sprint(n)).Tell(note{Text: "hello"})
			time.Sleep(10 * time.Second)
		}
		require.LessOrEqual(t, r.Stats().Awake, 10)
	})
}

func TestTheLimitHoldsAgainAfterABurst(t *testing.T) {
	for _, idle := range []time.Duration{0, time.Hour} {
		inBubble(t, func(t *testing.T, s *actor.System) {
			slow := func(e sharding.Entity) actor.Behavior[note] {
				return behaviors.Receive(func(_ *actor.Context[note], n note) actor.Behavior[note] {
					time.Sleep(time.Second)
					if n.Text == "" {
						n.ReplyTo.Tell(e.ID)
					}
					return nil
				})
			}
			r := start(t, s, slow, sharding.MaxEntities(1), sharding.PassivateAfter(idle))
			for n := range 100 {
				r.Ref(fmt.Sprint(n)).Tell(note{Text: "slow"})
			}
			time.Sleep(time.Minute)
			require.Equal(t, "7", read(t, r.Ref("7")))
			time.Sleep(time.Minute)
			require.LessOrEqual(t, r.Stats().Awake, 1)
		})
	}
}

func TestTheStatsSayWhatIsHere(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		r := start(t, s, notebook, sharding.Shards(2))
		require.Equal(t, "a:", read(t, r.Ref("a")))
		r.Ref("b").Tell(note{Text: "fail"})
		synctest.Wait()
		stats := r.Stats()
		require.Len(t, stats.Shards, 2)
		require.Equal(t, "notebook", stats.Type)
		require.Equal(t, 2, stats.Awake, "one of them waits for the end of its backoff")
		require.EqualValues(t, 1, stats.Failures)
		for _, of := range stats.Shards {
			require.True(t, of.Here)
			require.EqualValues(t, 1, of.Term)
		}
	})
}

func TestAnEntityThatStopsBeforeItsFirstMessageIsAFailure(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		starts := 0
		r := start(t, s, func(sharding.Entity) actor.Behavior[note] {
			starts++
			return behaviors.Stopped[note]
		})
		_, err := tryRead(t, r.Ref("a"))
		require.ErrorIs(t, err, sharding.ErrEntityFailed)
		require.Equal(t, 1, starts)
	})
}

func TestAnEntityThatIgnoresItsStopMessageIsStopped(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		r := start(t, s, notebook, sharding.PassivateAfter(time.Minute), sharding.StopMessage(note{Text: "bye"}))
		r.Ref("a").Tell(note{Text: "one"})
		time.Sleep(2 * time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		got, err := actor.Ask(ctx, r.Ref("a"), func(r actor.ActorRef[string]) note { return note{ReplyTo: r} })
		require.NoError(t, err)
		require.Equal(t, "a:", got, "the next incarnation")
	})
}

func TestAnIDThatHasFailedIsForgottenInTheEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		r := start(t, s, func(sharding.Entity) actor.Behavior[note] { panic("never") })
		for n := range 100 {
			for range 2 {
				r.Ref(fmt.Sprint(n)).Tell(note{Text: "one"})
				time.Sleep(time.Second)
			}
		}
		time.Sleep(5 * time.Minute)
		require.Zero(t, r.Stats().Awake)
	})
}

func TestATypeIsNotStartedOnASystemThatHasEnded(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		require.NoError(t, s.Shutdown(t.Context()))
		_, err := sharding.Start(s, "notebook", notebook)
		require.ErrorIs(t, err, sharding.ErrStopped)
	})
}

// Outside of a bubble, so that the race detector sees the goroutines of real schedulers.
func TestEntitiesAreToldWhileTheirShardsStart(t *testing.T) {
	s := testkit.NewSystem(t)
	r := start(t, s, notebook, sharding.Shards(64))
	var telling sync.WaitGroup
	for from := range 4 {
		telling.Go(func() {
			for n := range 400 {
				r.Ref(fmt.Sprint(n % 200)).Tell(note{Text: fmt.Sprint(from)})
			}
		})
	}
	telling.Wait()
	for n := range 200 {
		require.Len(t, strings.Fields(strings.TrimPrefix(read(t, r.Ref(fmt.Sprint(n))), fmt.Sprint(n, ":"))), 8)
	}
}
