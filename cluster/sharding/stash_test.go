package sharding_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// hesitant stashes its questions, and answers them a second after the first one.
func hesitant(sharding.Entity) actor.Behavior[note] {
	return behaviors.WithStash(100, func(s *actor.Stash[note]) actor.Behavior[note] {
		ready := false
		return behaviors.Receive(func(ctx *actor.Context[note], n note) actor.Behavior[note] {
			switch {
			case n.Text == "ready":
				ready = true
				return s.UnstashAll(nil)
			case ready:
				n.ReplyTo.Tell("answer")
				return nil
			}
			if !ctx.TimerActive("ready") {
				ctx.After("ready", time.Second, note{Text: "ready"})
			}
			return s.Stash(n)
		})
	})
}

// hesitantWithJournal is an event-sourced one.
func hesitantWithJournal(e sharding.Entity) actor.Behavior[note] {
	ready := false
	return behaviors.EventSourced(e.PersistenceID(), journal.NewMemory(), 0, func(n int, _ noted) int { return n + 1 },
		func(ctx *actor.Context[note], _ int, n note) persistence.Effect[noted] {
			switch {
			case n.Text == "ready":
				ready = true
				return persistence.UnstashAll
			case ready:
				return persistence.ThenReply(persistence.Persist(noted{}), n.ReplyTo, "answer")
			}
			if !ctx.TimerActive("ready") {
				ctx.After("ready", time.Second, note{Text: "ready"})
			}
			return persistence.Stash
		})
}

// What an entity has stashed is for its next incarnation, wherever that runs.
func TestAStashIsNotLostInAMove(t *testing.T) {
	for name, factory := range map[string]func(sharding.Entity) actor.Behavior[note]{"plain": hesitant, "event-sourced": hesitantWithJournal} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := clustertest.Start(t, 2)
				regions := map[string]*sharding.Region[note]{}
				for _, n := range c.Nodes() {
					r, err := sharding.Start(n, "notebook", factory, sharding.Shards(16))
					require.NoError(t, err)
					regions[n.View().Self.Name] = r
				}
				time.Sleep(20 * time.Second)
				answers := make(chan error, 100)
				for i := range cap(answers) {
					go func() {
						_, err := tryRead(t, regions["n1"].Ref(fmt.Sprint("e", i/4)))
						answers <- err
					}()
				}
				time.Sleep(500 * time.Millisecond)
				c.Leave("n2")
				for range cap(answers) {
					require.NoError(t, <-answers)
				}
			})
		})
	}
}

// An entity that passivates although its stash is not empty starts again, but not in a loop.
func TestAnEntityThatPassivatesWithAStashStartsAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		starts := 0
		r := start(t, s, func(e sharding.Entity) actor.Behavior[note] {
			starts++
			if starts == 4 {
				return notebook(e)
			}
			return behaviors.WithStash(10, func(s *actor.Stash[note]) actor.Behavior[note] {
				return behaviors.Receive(func(_ *actor.Context[note], n note) actor.Behavior[note] {
					e.Passivate()
					return s.Stash(n)
				})
			})
		})
		begun := time.Now()
		require.Equal(t, "a:", read(t, r.Ref("a")))
		require.Equal(t, 4, starts)
		require.GreaterOrEqual(t, time.Since(begun), 5*time.Second, "1 s, 2 s and 4 s apart, less the jitter")
	})
}

func TestAnEntityThatIgnoresItsStopMessageIsStoppedInTime(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		var of sharding.Entity
		starts := 0
		r := start(t, s, func(e sharding.Entity) actor.Behavior[note] {
			of = e
			starts++
			return behaviors.Receive(func(_ *actor.Context[note], n note) actor.Behavior[note] {
				if n.Text == "" {
					n.ReplyTo.Tell("answer")
				}
				return nil
			})
		}, sharding.StopMessage(note{Text: "stop"}), sharding.PassivateAfter(24*time.Hour), sharding.StopTimeout(10*time.Second))
		read(t, r.Ref("a"))
		of.Passivate()
		time.Sleep(time.Second)
		begun := time.Now()
		require.Equal(t, "answer", read(t, r.Ref("a")))
		require.Equal(t, 9*time.Second, time.Since(begun))
		require.Equal(t, 2, starts)
	})
}
