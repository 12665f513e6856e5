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
	"github.com/understudy-go/understudy/testkit"
)

// ticker is an entity with a timer. On each tick it keeps itself awake for a time.
func ticker(keep time.Duration, ticks *int) func(sharding.Entity) actor.Behavior[note] {
	return func(e sharding.Entity) actor.Behavior[note] {
		return behaviors.Setup(func(ctx *actor.Context[note]) actor.Behavior[note] {
			ctx.Every("tick", 10*time.Second, note{Text: "tick"})
			return behaviors.Receive(func(ctx *actor.Context[note], n note) actor.Behavior[note] {
				switch n.Text {
				case "tick":
					*ticks++
					if keep > 0 {
						e.KeepAwake(keep)
					}
				case "rest":
					ctx.CancelTimer("tick")
					e.KeepAwake(0)
				case "stay":
					e.KeepAwake(10 * time.Minute)
				}
				return nil
			})
		})
	}
}

func TestATimerKeepsAnEntityAwakeOnlyIfItSaysSo(t *testing.T) {
	for _, c := range []struct {
		keep  time.Duration
		awake int
	}{{0, 0}, {15 * time.Second, 1}} {
		t.Run(fmt.Sprint("keeping it awake for ", c.keep), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := testkit.NewSystem(t)
				ticks := 0
				r := start(t, s, ticker(c.keep, &ticks), sharding.PassivateAfter(time.Minute))
				r.Ref("a").Tell(note{Text: "hello"})
				time.Sleep(time.Hour)
				synctest.Wait() // a tick comes at this moment
				require.Equal(t, c.awake, r.Stats().Awake)
				if c.awake == 0 {
					require.Less(t, ticks, 10, "the timer has ended with the entity")
					return
				}
				require.Greater(t, ticks, 350)
				r.Ref("a").Tell(note{Text: "rest"})
				time.Sleep(2 * time.Minute)
				require.Zero(t, r.Stats().Awake, "nothing keeps it awake any more")
			})
		})
	}
}

func TestAnEntityThatKeepsAwakePassivatesAfterThatTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t)
		ticks := 0
		r := start(t, s, ticker(0, &ticks), sharding.PassivateAfter(time.Minute))
		r.Ref("a").Tell(note{Text: "stay"})
		time.Sleep(10 * time.Minute)
		require.Equal(t, 1, r.Stats().Awake)
		time.Sleep(2 * time.Minute)
		require.Zero(t, r.Stats().Awake)
		r.Ref("a").Tell(note{Text: "hello"})
		time.Sleep(2 * time.Minute)
		require.Zero(t, r.Stats().Awake, "the next incarnation passivates as any")
		sharding.Entity{ID: "a"}.KeepAwake(time.Hour)
	})
}

func TestTheLimitOfEntitiesSparesThoseThatKeepAwake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t)
		awake := map[string]bool{}
		r := start(t, s, func(e sharding.Entity) actor.Behavior[note] {
			return behaviors.Setup(func(ctx *actor.Context[note]) actor.Behavior[note] {
				if e.ID == "keeper" {
					e.KeepAwake(time.Hour)
					awake[e.ID] = true
					ctx.Defer(func() { awake[e.ID] = false })
				}
				return notebook(e)
			})
		}, sharding.Shards(1), sharding.MaxEntities(4), sharding.PassivateAfter(0))
		r.Ref("keeper").Tell(note{Text: "hello"})
		synctest.Wait()
		for n := range 40 {
			r.Ref(fmt.Sprint(n)).Tell(note{Text: "hello"})
			time.Sleep(time.Second)
		}
		require.True(t, awake["keeper"])
		require.LessOrEqual(t, r.Stats().Awake, 6)
	})
}
