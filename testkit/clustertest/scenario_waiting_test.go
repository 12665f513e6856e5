//go:build !quick

package clustertest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A jot is stored, unless it is silent: then nobody answers it.
type jot struct {
	Silent  bool
	ReplyTo actor.ActorRef[int]
}

type jotted struct{}

func init() {
	actor.RegisterType[jot]("clustertest_test.jot")
	actor.RegisterType[jotted]("clustertest_test.jotted")
}

func jotter(id string, j persistence.Journal) actor.Behavior[jot] {
	return behaviors.EventSourced(id, j, 0, func(n int, _ jotted) int { return n + 1 },
		func(_ *actor.Context[jot], n int, msg jot) persistence.Effect[jotted] {
			if msg.Silent {
				return persistence.None
			}
			return persistence.ThenReply(persistence.Persist(jotted{}), msg.ReplyTo, n+1)
		})
}

// A sick journal is shared by all nodes, and ails one id.
type sick struct {
	*journal.Memory
	mu   sync.Mutex // guards ails
	ails func(ctx context.Context) error
	id   string
}

func (j *sick) set(ails func(context.Context) error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ails = ails
}

func (j *sick) call(ctx context.Context, id string) error {
	j.mu.Lock()
	ails := j.ails
	j.mu.Unlock()
	if ails == nil || id != j.id {
		return nil
	}
	return ails(ctx)
}

func (j *sick) Claim(ctx context.Context, id string, w journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	if err := j.call(ctx, id); err != nil {
		return journal.Claim{}, err
	}
	return j.Memory.Claim(ctx, id, w, b)
}

func (j *sick) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	if err := j.call(ctx, reqs[0].ID); err != nil {
		return []error{err}
	}
	return j.Memory.Append(ctx, reqs)
}

// An asyncSick is a sick journal whose appends need not be waited for.
type asyncSick struct{ *sick }

func (j asyncSick) AppendAsync(req journal.AppendRequest, done func(error)) journal.Call {
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() { done(j.Append(ctx, []journal.AppendRequest{req})[0]) }()
	return cancelCall(cancel)
}

type cancelCall context.CancelCauseFunc

func (c cancelCall) Cancel(cause error) { c(cause) }

var errAils = errors.New("text of the store")

// An ailment is what the journal does, and what asks say.
type ailment struct {
	ails func(context.Context) error
	is   []error // one of them
}

func (a ailment) isOne(err error) bool {
	return slices.ContainsFunc(a.is, func(one error) bool { return errors.Is(err, one) })
}

var ailments = map[string]ailment{
	"full": {func(context.Context) error { return fmt.Errorf("%w: %w", persistence.ErrFull, errAils) }, []error{persistence.ErrFull}},
	"down": {func(context.Context) error { return fmt.Errorf("%w: %w", persistence.ErrUnavailable, errAils) }, []error{persistence.ErrUnavailable}},
	"hangs": {func(ctx context.Context) error {
		<-ctx.Done()
		return fmt.Errorf("%w: %w", persistence.ErrUnknown, context.Cause(ctx))
	}, []error{persistence.ErrUnavailable, persistence.ErrUnknown}},
}

func jotDown(t *testing.T, to actor.ActorRef[jot], silent bool) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := actor.Ask(ctx, to, func(replyTo actor.ActorRef[int]) jot { return jot{silent, replyTo} })
	return err
}

// aJotter is where an event-sourced actor runs, and under which id.
type aJotter struct {
	id    string
	start func(t *testing.T, c *clustertest.Cluster, j persistence.Journal) // not in memory yet
	ref   func(t *testing.T, c *clustertest.Cluster, by string) actor.ActorRef[jot]
}

var jotters = map[string]aJotter{
	"entity": {
		"jot|a",
		func(t *testing.T, c *clustertest.Cluster, j persistence.Journal) {
			for _, n := range c.Nodes() {
				_, err := sharding.Start(n, "jot", func(e sharding.Entity) actor.Behavior[jot] { return jotter(e.PersistenceID(), j) }, sharding.Shards(1), sharding.EventSourced())
				require.NoError(t, err)
			}
			time.Sleep(10 * time.Second)
		},
		func(t *testing.T, c *clustertest.Cluster, by string) actor.ActorRef[jot] {
			if by == "client" {
				return sharding.RefOf[jot](c.Dial("client"), "jot", "a")
			}
			return sharding.RefOf[jot](c.Node(by), "jot", "a")
		},
	},
	"singleton": {
		"jotter",
		func(t *testing.T, c *clustertest.Cluster, j persistence.Journal) {
			for _, n := range c.Nodes() {
				actor.Spawn(n, behaviors.Singleton(func() actor.Behavior[jot] { return jotter("jotter", j) }), "jotter")
			}
			time.Sleep(10 * time.Second)
		},
		func(t *testing.T, c *clustertest.Cluster, by string) actor.ActorRef[jot] {
			if by == "client" {
				return singleton.Ref[jot](c.Dial("client").System, "jotter")
			}
			return singleton.Ref[jot](c.Node(by).System, "jotter")
		},
	},
}

// An ask that ends at its deadline, because the journal keeps the actor from going on, says so.
// It does not matter on which node that is, what the journal does, and whether the actor runs.
func TestAnAskThatEndsWhileTheJournalDoesNotAnswerSaysSo(t *testing.T) {
	for what, actors := range jotters {
		for name, of := range ailments {
			for _, by := range []string{"n1", "n2", "client"} {
				for _, runs := range []bool{true, false} {
					t.Run(fmt.Sprint(what, " ", name, " asked by ", by, " runs ", runs), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) { saysSo(t, actors, of, by, runs, by == "n2") })
					})
				}
			}
		}
	}
}

func saysSo(t *testing.T, actors aJotter, of ailment, by string, runs, async bool) {
	c := clustertest.Start(t, 2)
	c.AwaitQuiet()
	j := &sick{Memory: journal.NewMemory(), id: actors.id}
	var shown persistence.Journal = j
	if async {
		shown = asyncSick{j}
	}
	if !runs {
		j.set(of.ails)
	}
	actors.start(t, c, shown)
	ref := actors.ref(t, c, by)
	if runs {
		require.NoError(t, jotDown(t, ref, false))
		j.set(of.ails)
	}
	says := func(when string, err error) {
		t.Helper()
		require.Error(t, err, when)
		require.ErrorIs(t, err, context.DeadlineExceeded, when)
		require.True(t, of.isOne(err), "%s: %v", when, err)
		require.ErrorContains(t, err, actors.id, when)
	}
	later := make(chan error, 1)
	go func() { // behind the first one
		time.Sleep(1500 * time.Millisecond)
		later <- jotDown(t, ref, false)
	}()
	says("the first", jotDown(t, ref, false))
	says("the one behind", <-later)
	for i := range 12 { // also while the actor waits for its restart
		time.Sleep(5 * time.Second)
		err := jotDown(t, ref, false)
		if errors.Is(err, context.DeadlineExceeded) {
			says(fmt.Sprint("number ", i), err)
		}
	}
	j.set(nil)
	time.Sleep(2 * time.Minute)
	require.NoError(t, jotDown(t, ref, false))
	err := jotDown(t, ref, true)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.False(t, of.isOne(err), "%v", err)
	require.NotContains(t, err.Error(), "journal")
}

// The ids of remembered entities are in a journal, too. An entity waits until they are read when
// its shard starts, and until its own is stored.
func TestAnAskThatWaitsForTheIDsOfRememberedEntitiesSaysSo(t *testing.T) {
	for name, ailment := range ailments {
		for _, by := range []string{"n1", "n2", "client"} {
			t.Run(name+" asked by "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					j := &sick{Memory: journal.NewMemory(), id: "sharding/remembered/0/jot"}
					c := clustertest.Start(t, 2, clustertest.WithJournal(j))
					c.AwaitQuiet()
					j.set(ailment.ails)
					for _, n := range c.Nodes() {
						_, err := sharding.Start(n, "jot", func(e sharding.Entity) actor.Behavior[jot] { return jotter(e.PersistenceID(), j) }, sharding.Shards(1), sharding.EventSourced(), sharding.Remember())
						require.NoError(t, err)
					}
					time.Sleep(10 * time.Second)
					says := func(err error) {
						t.Helper()
						require.ErrorIs(t, err, context.DeadlineExceeded)
						require.True(t, ailment.isOne(err), "%v", err)
						require.ErrorContains(t, err, j.id)
					}
					client := c.Dial("client")
					to := func(id string) actor.ActorRef[jot] {
						if by == "client" {
							return sharding.RefOf[jot](client, "jot", id)
						}
						return sharding.RefOf[jot](c.Node(by), "jot", id)
					}
					if by == "n1" {
						says(jotDown(t, to("a"), false))
					} else { // other nodes know no home of the shard before that has read its ids
						require.ErrorIs(t, jotDown(t, to("a"), false), sharding.ErrUnavailable)
					}
					j.set(nil)
					time.Sleep(2 * time.Minute)
					require.NoError(t, jotDown(t, to("a"), false))
					j.set(ailment.ails)
					behind := make(chan error, 1)
					go func() {
						time.Sleep(1500 * time.Millisecond)
						behind <- jotDown(t, to("c"), false)
					}()
					says(jotDown(t, to("c"), false))
					says(<-behind)
					require.NoError(t, jotDown(t, to("a"), false), "its id is stored")
					j.set(nil)
					time.Sleep(2 * time.Minute)
					require.NoError(t, jotDown(t, to("c"), false))
					err := jotDown(t, to("c"), true)
					require.ErrorIs(t, err, context.DeadlineExceeded)
					require.NotContains(t, err.Error(), "journal")
				})
			})
		}
	}
}
