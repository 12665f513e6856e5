package eventsourced_test

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/eventsourced"
)

// A list counts items.
type (
	list struct {
		Items  map[string]int
		recent []string
		cache  *int
	}
	buy struct {
		Item    string
		ReplyTo actor.ActorRef[int]
	}
	bought struct{ Item string }
)

func init() {
	actor.RegisterType[buy]("eventsourced_test.buy")
	actor.RegisterType[bought]("eventsourced_test.bought")
}

func onBought(l list, e bought) list {
	items := maps.Clone(l.Items)
	items[e.Item]++
	return list{Items: items, recent: append(slices.Clip(l.recent), e.Item), cache: l.cache}
}

func onBuy(_ *actor.Context[buy], l list, msg buy) persistence.Effect[bought] {
	return persistence.ThenReply(persistence.Persist(bought{msg.Item}, bought{msg.Item}), msg.ReplyTo, l.Items[msg.Item]+2)
}

// A failing keeps the errors of a test.
type failing struct {
	testing.TB
	errors []string
}

func (f *failing) Errorf(format string, args ...any) { f.Error(fmt.Sprintf(format, args...)) }

func (f *failing) Error(args ...any) { f.errors = append(f.errors, fmt.Sprint(args...)) }

// Fatalf ends the goroutine, as in a test.
func (f *failing) Fatalf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
	runtime.Goexit()
}

func faultsOf(t *testing.T, b eventsourced.Behavior[buy, bought, list]) []string {
	t.Helper()
	f := &failing{TB: t}
	b.ID = "list"
	if b.Initial.Items == nil {
		b.Initial = list{Items: map[string]int{}, recent: make([]string, 1, 10), cache: new(int)}
	}
	k := eventsourced.New(f, testkit.NewSystem(t), b)
	for range 2 {
		reply, _ := eventsourced.Ask(k, func(r actor.ActorRef[int]) buy { return buy{"milk", r} })
		require.Positive(t, reply)
	}
	return f.errors
}

// line returns the line that is offset lines after the one that calls it.
func line(offset int) string {
	_, file, at, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", file, at+offset)
}

func TestTheKitIsContentWithCorrectHandlers(t *testing.T) {
	require.Empty(t, faultsOf(t, eventsourced.Behavior[buy, bought, list]{OnEvent: onBought, OnCommand: onBuy}))
	require.Empty(t, faultsOf(t, eventsourced.Behavior[buy, bought, list]{OnEvent: onBought, OnCommand: func(_ *actor.Context[buy], _ list, msg buy) persistence.Effect[bought] {
		msg.ReplyTo.Tell(1) // stores nothing
		return persistence.None
	}}))
	require.Empty(t, faultsOf(t, eventsourced.Behavior[buy, bought, list]{OnEvent: onBought, OnCommand: func(ctx *actor.Context[buy], l list, msg buy) persistence.Effect[bought] {
		return persistence.Once("key", onBuy(ctx, l, msg))
	}}))
}

func TestTheKitNoticesAReplyBeforeTheAppend(t *testing.T) {
	var at string
	faults := faultsOf(t, eventsourced.Behavior[buy, bought, list]{OnEvent: onBought, OnCommand: func(_ *actor.Context[buy], l list, msg buy) persistence.Effect[bought] {
		at = line(1)
		msg.ReplyTo.Tell(l.Items[msg.Item] + 1)
		return persistence.Persist(bought{msg.Item})
	}})
	require.Len(t, faults, 2)
	require.Contains(t, faults[0], at+": the reply leaves before the events of its command are stored")
	require.Contains(t, faults[0], "persistence.ThenReply")
}

func TestTheKitNoticesAnEventHandlerThatChangesItsState(t *testing.T) {
	for what, change := range map[string]func(l list, e bought) list{
		`has got .Items["milk"] 1`:         func(l list, e bought) list { l.Items[e.Item]++; return l },
		`.recent[0] was "", and is "milk"`: func(l list, e bought) list { l.recent[0] = e.Item; return l },
		`.cache was 0, and is 1`:           func(l list, _ bought) list { *l.cache++; return l },
		`.Items["x"] 0`:                    func(l list, _ bought) list { l.Items["x"] = 0; return onBought(l, bought{}) },
	} {
		at := line(-6)
		faults := faultsOf(t, eventsourced.Behavior[buy, bought, list]{OnEvent: change, OnCommand: onBuy})
		require.NotEmpty(t, faults, what)
		require.Contains(t, faults[0], "the event handler has changed the state that it was given, at eventsourced_test.bought")
		require.Contains(t, faults[0], what)
		require.Contains(t, faults[0], at[:strings.LastIndex(at, ":")])
	}
}

func TestTheKitNoticesACommandHandlerThatChangesItsState(t *testing.T) {
	faults := faultsOf(t, eventsourced.Behavior[buy, bought, list]{OnEvent: onBought, OnCommand: func(ctx *actor.Context[buy], l list, msg buy) persistence.Effect[bought] {
		l.Items["seen"] = 1
		return onBuy(ctx, l, msg)
	}})
	require.Len(t, faults, 1, "the second time it is there already")
	require.Contains(t, faults[0], "the command handler has changed")
}

// noItems is the initial state of all lists.
var noItems = map[string]int{}

func TestTheKitNoticesAnInitialStateThatEntitiesShare(t *testing.T) {
	shared := func(j persistence.Journal) actor.Behavior[buy] {
		return persistence.New("list", j, list{Items: noItems}, func(l list, e bought) list { l.Items[e.Item]++; return l }, onBuy)
	}
	clear(noItems)
	f := &failing{TB: t}
	k := eventsourced.Of[bought, list](f, testkit.NewSystem(t), shared)
	eventsourced.Ask(k, func(r actor.ActorRef[int]) buy { return buy{"milk", r} })
	require.Len(t, f.errors, 2, "one for each event")
	require.Contains(t, f.errors[0], `has got .Items["milk"] 1`)
}

func TestTheKitNamesTheHandlerThatForgetsItsReply(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		f := &failing{TB: t}
		at := line(3)
		k := eventsourced.New(f, s, eventsourced.Behavior[buy, bought, list]{
			ID: "list", Initial: list{Items: map[string]int{}}, OnEvent: onBought,
			OnCommand: func(_ *actor.Context[buy], _ list, msg buy) persistence.Effect[bought] {
				return persistence.Persist(bought{msg.Item})
			},
		})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			eventsourced.Ask(k, func(r actor.ActorRef[int]) buy { return buy{"milk", r} })
		}()
		<-ended
		require.Len(t, f.errors, 1)
		require.Contains(t, f.errors[0], at+": the command handler has not replied to eventsourced_test.buy within 3s, and its error is <nil>")
	})
}
