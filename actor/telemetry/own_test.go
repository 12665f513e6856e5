package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// series returns the series of a family by the first label.
func series(t *testing.T, s *actor.System, name string) map[string]telemetry.Series {
	t.Helper()
	for _, f := range telemetry.Gather(s) {
		if f.Name != name {
			continue
		}
		all := map[string]telemetry.Series{}
		for _, each := range f.Series {
			label := ""
			if len(each.Labels) > 0 {
				label = each.Labels[0]
			}
			all[label] = each
		}
		return all
	}
	require.Fail(t, "no such family", name)
	return nil
}

func TestSlowHandlersAndWaitingMessagesAreMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actor.NewSystem("shop", actor.WithTimeSampling(1))
		t.Cleanup(func() { require.NoError(t, s.Shutdown(context.Background())) })
		ref := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[order], _ order) actor.Behavior[order] {
			time.Sleep(time.Minute)
			return nil
		}), "", actor.WithKind("till"))
		for range 3 {
			ref.Tell("one")
			synctest.Wait()
		}
		require.InDelta(t, 2, series(t, s, "understudy_mailbox_messages")["till"].Value, 0)
		time.Sleep(10 * time.Second)
		require.InDelta(t, 1, series(t, s, "understudy_slow_handlers")[""].Value, 0)
		require.InDelta(t, 10, series(t, s, "understudy_slowest_handler_seconds")[""].Value, 0)
		require.InDelta(t, 1, series(t, s, "understudy_runners")[""].Value, 0)
		require.InDelta(t, 0, series(t, s, "understudy_ready_actors")[""].Value, 0)
		require.InDelta(t, 0, series(t, s, "understudy_blocked_handlers")[""].Value, 0, "nobody waits behind it")
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		took := series(t, s, "understudy_message_processing_seconds")["till"].Durations
		require.Equal(t, uint64(3), took.Count)
		require.Equal(t, 3*time.Minute, took.Sum)
		require.Len(t, took.Buckets, 6)
		require.Empty(t, series(t, s, "understudy_mailbox_messages"))
	})
}

func TestTenKindsOfActorsMakeAtMost200Series(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actor.NewSystem("shop", actor.WithTimeSampling(1))
		t.Cleanup(func() { require.NoError(t, s.Shutdown(context.Background())) })
		for kind := range 10 {
			for range 100 {
				ref := actor.Spawn(s, behaviors.WithStash(10, func(stash *actor.Stash[order]) actor.Behavior[order] {
					return behaviors.Receive(func(ctx *actor.Context[order], o order) actor.Behavior[order] {
						switch o {
						case "stash":
							return stash.Stash(o)
						case "sleep":
							time.Sleep(time.Minute)
						case "fail":
							return ctx.Fail(errors.New("told to"))
						}
						return nil
					})
				}), "", actor.WithKind(fmt.Sprint("kind-", kind)))
				for _, o := range []order{"stash", "sleep", "more", "fail"} {
					ref.Tell(o)
					synctest.Wait()
				}
			}
		}
		count := 0
		for _, f := range telemetry.Gather(s) {
			for _, each := range f.Series {
				count++
				if f.Type == telemetry.Histogram {
					count += len(each.Durations.Buckets) + 2 // with one for all, and the sum
				}
			}
		}
		require.Greater(t, count, 150)
		require.LessOrEqual(t, count, 200)
		time.Sleep(2 * time.Minute)
	})
}

func TestTheAgeOfTheOldestRequestAndWhatActorsDropAreMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actor.NewSystem("shop")
		t.Cleanup(func() { require.NoError(t, s.Shutdown(context.Background())) })
		ref := actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[order], _ order) actor.Behavior[order] {
			time.Sleep(time.Minute)
			return nil
		}), "", actor.WithKind("till"), actor.Bounded(3))
		ref.Tell("one")
		for range 5 {
			go func() {
				_, _ = actor.AskTimeout(context.Background(), ref, time.Hour, func(actor.ActorRef[int]) order { return "two" })
			}()
			synctest.Wait()
		}
		time.Sleep(10 * time.Second)
		require.InDelta(t, 10, series(t, s, "understudy_oldest_request_seconds")["till"].Value, 0)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		require.InDelta(t, 130, series(t, s, "understudy_oldest_request_seconds")["till"].Value, 0)
		dropped := map[string]float64{}
		for _, f := range telemetry.Gather(s) {
			for _, each := range f.Series {
				if f.Name == "understudy_actor_dropped_messages_total" && each.Labels[0] == "till" {
					dropped[each.Labels[1]] = each.Value
				}
			}
		}
		require.Len(t, dropped, 5)
		require.InDelta(t, 2, dropped["mailbox is full"], 0)
		time.Sleep(time.Hour)
		require.Empty(t, series(t, s, "understudy_oldest_request_seconds"))
	})
}
