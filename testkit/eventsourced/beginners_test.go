package eventsourced_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/eventsourced"
)

// A cart has what mistakes need.
type (
	cart struct {
		Lines  []cartLine
		Counts map[string]int
		At     time.Time
		Number int
		Last   *cartLine
	}
	cartLine struct{ Item, Note string }
	order    struct {
		Item    string
		ReplyTo actor.ActorRef[int]
	}
	ordered struct {
		Item string
		Note string `cbor:"-"`
	}
	nowhereNamed struct{ Item string }
	cartEvent    any
)

func init() {
	actor.RegisterType[order]("eventsourced_test.order")
	actor.RegisterType[ordered]("eventsourced_test.ordered")
}

// A mistake is a part of a behavior that replaces a right one.
type mistake struct {
	initial   func() cart
	onEvent   func(c cart, e ordered) cart
	onCommand func(c cart, o order) persistence.Effect[cartEvent]
}

func rightEvent(c cart, e ordered) cart {
	c.Lines = append(slices.Clone(c.Lines), cartLine{Item: e.Item})
	return c
}

func rightCommand(c cart, o order) persistence.Effect[cartEvent] {
	return persistence.ThenReply(persistence.Persist[cartEvent](ordered{Item: o.Item, Note: "fragile"}), o.ReplyTo, len(c.Lines)+1)
}

// complaintsOf runs two commands and a restart, as the test of a beginner does.
func complaintsOf(t *testing.T, m mistake) (complaints string) {
	t.Helper()
	f := &failing{TB: t}
	ended := make(chan struct{})
	go func() { // which Fatalf ends
		defer close(ended)
		b := eventsourced.Behavior[order, cartEvent, cart]{
			ID: "cart", Initial: cart{Counts: map[string]int{}},
			OnEvent: func(c cart, e cartEvent) cart {
				if o, is := e.(ordered); is {
					return m.onEvent(c, o)
				}
				return c
			},
			OnCommand: func(_ *actor.Context[order], c cart, o order) persistence.Effect[cartEvent] { return m.onCommand(c, o) },
		}
		s := testkit.NewSystem(t)
		k := eventsourced.Of[cartEvent, cart](f, s, func(j persistence.Journal) actor.Behavior[order] {
			if m.initial != nil {
				b.Initial = m.initial()
			}
			return persistence.New(b.ID, j, b.Initial, b.OnEvent, b.OnCommand, b.Options)
		})
		for _, item := range []string{"milk", "bread"} {
			if _, outcome := eventsourced.Ask(k, func(r actor.ActorRef[int]) order { return order{item, r} }); outcome.Err != nil {
				f.Error(outcome.Err)
			}
			time.Sleep(time.Second)
		}
		k.Restart()
	}()
	<-ended
	return strings.Join(f.errors, "\n")
}

var outside int // of what an actor may know

// Each of these passes every other test that a beginner writes. Two more do not even start:
// TestUnexportedFieldsAreNotStoredAndNeedATag.
func TestTheKitNoticesTheMistakesOfBeginners(t *testing.T) {
	for name, of := range map[string]struct {
		mistake
		complaint string
	}{
		"the right one": {},
		"the command handler changes a map of the state": {mistake{onCommand: func(c cart, o order) persistence.Effect[cartEvent] {
			c.Counts[o.Item]++
			return rightCommand(c, o)
		}}, "the command handler has changed the state that it was given"},
		"the event handler changes a line of the slice that it was given": {mistake{onEvent: func(c cart, e ordered) cart {
			if len(c.Lines) > 0 {
				c.Lines[0].Note = "old"
			}
			return rightEvent(c, e)
		}}, "the event handler has changed the state that it was given"},
		"the event handler changes what the state points to": {mistake{onEvent: func(c cart, e ordered) cart {
			if c.Last != nil {
				c.Last.Item = e.Item
			} else {
				c.Last = &cartLine{Item: e.Item}
			}
			return c
		}}, "the event handler has changed the state that it was given"},
		"the event handler asks the clock": {mistake{onEvent: func(c cart, _ ordered) cart {
			c.At = time.Now()
			return c
		}}, "the state is another one after a restart: .At was"},
		"the event handler draws a number": {mistake{onEvent: func(c cart, _ ordered) cart {
			c.Number = rand.Int() //nolint:gosec // a mistake
			return c
		}}, "the state is another one after a restart: .Number was"},
		"the event handler counts in a variable": {mistake{onEvent: func(c cart, _ ordered) cart {
			outside++
			c.Number = outside
			return c
		}}, "the state is another one after a restart: .Number was"},
		"the event handler uses a field that is not stored": {mistake{onEvent: func(c cart, e ordered) cart {
			c.Lines = append(slices.Clone(c.Lines), cartLine(e))
			return c
		}}, `the state is another one after a restart: .Lines[0].Note was "fragile", and is ""`},
		"the initial state is never the same": {mistake{initial: func() cart {
			return cart{At: time.Now()}
		}}, "the state is another one after a restart: .At was"},
		"the reply comes twice": {mistake{onCommand: func(c cart, o order) persistence.Effect[cartEvent] {
			return persistence.ThenReply(rightCommand(c, o), o.ReplyTo, 7)
		}}, "the second reply reaches nobody"},
		"one branch forgets its reply": {mistake{onCommand: func(c cart, o order) persistence.Effect[cartEvent] {
			if len(c.Lines) > 0 {
				return persistence.Persist[cartEvent](ordered{Item: o.Item})
			}
			return rightCommand(c, o)
		}}, "has not replied to eventsourced_test.order"},
		"the event has no name": {mistake{onCommand: func(_ cart, o order) persistence.Effect[cartEvent] {
			return persistence.ThenReply(persistence.Persist[cartEvent](nowhereNamed{o.Item}), o.ReplyTo, 1)
		}}, `actor.RegisterType[eventsourced_test.nowhereNamed]("a stable name")`},
		"the reply says what a later line might refuse": {mistake{onCommand: func(c cart, o order) persistence.Effect[cartEvent] {
			o.ReplyTo.Tell(len(c.Lines) + 1)
			return persistence.Persist[cartEvent](ordered{Item: o.Item})
		}}, "the reply leaves before the events of its command are stored"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if of.onEvent == nil {
					of.onEvent = rightEvent
				}
				if of.onCommand == nil {
					of.onCommand = rightCommand
				}
				complaints := complaintsOf(t, of.mistake)
				if of.complaint == "" {
					require.Empty(t, complaints)
					return
				}
				require.Contains(t, complaints, of.complaint)
			})
		})
	}
}
