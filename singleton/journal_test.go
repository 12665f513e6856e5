package singleton_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
)

// written is the event of the instances of these tests: the generation that wrote it, by
// its own word.
type written struct{ By uint64 }

func init() { actor.RegisterType[written]("singleton_test.written") }

// diary is an event-sourced instance that stores under which generation it is, and
// answers with that; "fail" makes it fail.
func diary(id string, j persistence.Journal) func() actor.Behavior[msg] {
	onEvent := func(count int, _ written) int { return count + 1 }
	return func() actor.Behavior[msg] {
		return behaviors.EventSourced(id, j, 0, onEvent, func(ctx *actor.Context[msg], _ int, m msg) persistence.Effect[written] {
			if m.Text == "fail" {
				panic("told to")
			}
			gen := singleton.GenerationOf(ctx)
			packed, err := gen.Packed()
			if err != nil {
				panic(err)
			}
			return persistence.ThenReply(persistence.Persist(written{packed}), m.ReplyTo, gen.String())
		})
	}
}

// requireAgreement fails unless each event of id was stored under the epoch that its
// writer had as its generation, and these only grow. It returns how many events there are.
func requireAgreement(t testing.TB, j persistence.Journal, id string) (events int) {
	t.Helper()
	var last uint64
	for r, err := range j.Read(t.Context(), id, 1, math.MaxInt64) {
		require.NoError(t, err)
		event, err := extension.Unpack(nil, extension.Payload{Type: r.Type, Data: r.Payload})
		require.NoError(t, err)
		require.Equal(t, event.(written).By, r.Epoch, "event %d, written by %v under %v", r.Seq, tenure.Unpack(event.(written).By), tenure.Unpack(r.Epoch))
		require.GreaterOrEqual(t, r.Epoch, last)
		last = r.Epoch
		events++
	}
	return events
}

// A generation that has been used is never used again, whatever is stopped: the journal
// remembers it when the cluster does not.
func TestGenerationsOutliveTheClusterInAJournal(t *testing.T) {
	j := journal.NewMemory()
	var last singleton.Generation
	for life := range 3 {
		s := actor.NewSystem("life")
		starts := testkit.NewProbe[singleton.Started](t, s)
		actor.Subscribe(s, starts.Ref())
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Singleton(diary("diary", j), singleton.RestartBackoff(actor.Backoff{Min: time.Millisecond, Max: time.Millisecond})), "one")
		for range 3 {
			started := starts.Receive().Generation
			ref.Tell(msg{"write", p.Ref()})
			gen := parseGeneration(t, p.Receive())
			require.True(t, last.Less(gen), "%v is not after %v, in life %d", gen, last, life)
			require.Equal(t, gen, started)
			last = gen
			ref.Tell(msg{Text: "fail"})
		}
		require.NoError(t, s.Shutdown(t.Context()))
	}
	require.Equal(t, 9, requireAgreement(t, j, "diary"))
}

func parseGeneration(t testing.TB, text string) (g singleton.Generation) {
	t.Helper()
	_, err := fmt.Sscanf(strings.ReplaceAll(text, ".", " "), "%d %d", &g.Term, &g.Seq)
	require.NoError(t, err)
	return g
}

// A whole cluster is stopped, and started again with nothing but the journal; the
// generation that its members agree on follows the one that the journal remembers.
func TestAClusterThatIsStartedAgainGoesOnWhereTheJournalIs(t *testing.T) {
	j := journal.NewMemory()
	var last singleton.Generation
	for range 3 {
		inCluster(t, abc, func(t *testing.T, c *cluster) {
			refs := onAll(c, diary("diary", j))
			p := testkit.NewProbe[string](t, c.nodes["c"].System)
			for _, host := range []string{"a", "b", "c"} {
				settle()
				refs["c"].Tell(msg{"write", p.Ref()})
				gen := parseGeneration(t, p.Receive())
				require.True(t, last.Less(gen), "%v is not after %v", gen, last)
				last = gen
				time.Sleep(10 * time.Millisecond) // what is on its way arrives
				require.Equal(t, gen, c.nodes[host].status("one").Generation)
				require.Equal(t, wire.Record{Term: gen.Term, Seq: gen.Seq, Fenced: true}, c.nodes["c"].record(), "what the members remember")
				if host != "c" {
					c.leave(host)
				}
			}
		})
	}
	require.Equal(t, 9, requireAgreement(t, j, "diary"))
	require.GreaterOrEqual(t, last.Term, uint64(7), "1.1 to 3.1, then 3.2 to 5.1, then 5.2 to 7.1; a term may be left out")
}

// When supervision inside the instance restarts it, it claims again, and is a later
// generation.
func TestARestartInsideTheInstanceRaisesTheGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		j := journal.NewMemory()
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Singleton(func() actor.Behavior[msg] { return behaviors.Supervise(diary("diary", j)(), actor.Strategy{}) }), "one")
		for _, want := range []string{"1.1", "1.2", "1.3"} {
			ref.Tell(msg{"write", p.Ref()})
			p.Expect(want)
			synctest.Wait()
			status, _ := singleton.StatusOf(s, "one")
			require.Equal(t, want, status.Generation.String())
			ref.Tell(msg{Text: "fail"})
		}
		requireAgreement(t, j, "diary")
	})
}

// claims records the errors of the claims of a journal.
type claims struct {
	*journal.Memory
	errs []error
}

func (c *claims) Claim(ctx context.Context, id string, w journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	claim, err := c.Memory.Claim(ctx, id, w, b)
	c.errs = append(c.errs, err)
	return claim, err
}

// A restart under the same term is refused when a newer instance has claimed the journal. The
// manager asks for another term before it starts the instance again.
func TestARestartUnderTheSameTermDoesNotFenceOffANewerInstance(t *testing.T) {
	for name, supervised := range map[string]func(actor.Behavior[msg]) actor.Behavior[msg]{
		"by the manager":      func(b actor.Behavior[msg]) actor.Behavior[msg] { return b },
		"inside the instance": func(b actor.Behavior[msg]) actor.Behavior[msg] { return behaviors.Supervise(b, actor.Strategy{}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := testkit.NewSystem(t, testkit.WithoutEncoding())
				j := &claims{Memory: journal.NewMemory()}
				p := testkit.NewProbe[string](t, s)
				ref := actor.Spawn(s, behaviors.Singleton(func() actor.Behavior[msg] { return supervised(diary("diary", j)()) }), "one")
				ref.Tell(msg{"write", p.Ref()})
				p.Expect("1.1")
				newer, err := j.Memory.Claim(t.Context(), "diary", journal.WriterID{1}, journal.Bounds{Least: 5 << 32})
				require.NoError(t, err)
				ref.Tell(msg{Text: "fail"})
				time.Sleep(10 * time.Second)
				ref.Tell(msg{"write", p.Ref()})
				p.Expect("6.1")
				require.Len(t, j.errs, 3)
				require.NoError(t, j.errs[0])
				fenced, is := errors.AsType[*journal.FencedError](j.errs[1])
				require.True(t, is, j.errs[1])
				require.Equal(t, []uint64{2 << 32, newer.Epoch}, []uint64{fenced.Below, fenced.Newest})
				require.NoError(t, j.errs[2], "the first claim under another term")
			})
		})
	}
}

// With terms from a journal, the epoch of the instance's events is still the same number as its
// term, whichever of the two has come further.
func TestWithTermsFromAJournalTermAndEpochAreTheSameNumber(t *testing.T) {
	for name, ahead := range map[string]struct {
		id    string
		least uint64
	}{
		"the terms are ahead":  {"singleton/one", 40},
		"the events are ahead": {"diary", 40 << 32},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := testkit.NewSystem(t, testkit.WithoutEncoding())
				j := journal.NewMemory()
				_, err := j.Claim(t.Context(), ahead.id, journal.WriterID{}, journal.Bounds{Least: ahead.least})
				require.NoError(t, err)
				p := testkit.NewProbe[string](t, s)
				ref := actor.Spawn(s, behaviors.Singleton(diary("diary", j), singleton.WithGenerations(j)), "one")
				var last singleton.Generation
				for range 3 {
					ref.Tell(msg{"write", p.Ref()})
					gen := parseGeneration(t, p.Receive())
					require.True(t, last.Less(gen), "%v is not after %v", gen, last)
					last = gen
					ref.Tell(msg{Text: "fail"})
					settle()
				}
				require.Equal(t, 3, requireAgreement(t, j, "diary"))
				require.GreaterOrEqual(t, last.Term, uint64(40))
			})
		})
	}
}

// Of several persistence ids in one instance, the one that is ahead decides. The claim under a
// lower term is refused, and the instance starts again under a higher one.
func TestSeveralJournaledActorsOfAnInstanceShareItsGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		j := journal.NewMemory()
		_, err := j.Claim(t.Context(), "ahead", journal.WriterID{}, journal.Bounds{Least: 7 << 32})
		require.NoError(t, err)
		stopped := testkit.NewProbe[singleton.Stopped](t, s)
		actor.Subscribe(s, stopped.Ref())
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Singleton(func() actor.Behavior[msg] {
			return behaviors.Setup(func(ctx *actor.Context[msg]) actor.Behavior[msg] {
				var children []actor.ActorRef[msg]
				for _, id := range []string{"ahead", "behind"} {
					children = append(children, actor.Spawn(ctx, diary(id, j)(), id))
				}
				return behaviors.Receive(func(_ *actor.Context[msg], m msg) actor.Behavior[msg] {
					for _, child := range children {
						child.Tell(m)
					}
					return behaviors.Same
				})
			})
		}), "one")
		time.Sleep(time.Second)
		failed := stopped.Receive()
		require.ErrorIs(t, failed.Err, singleton.ErrFenced)
		require.ErrorContains(t, failed.Err, `"ahead" of understudy://test/user/one/instance/ahead belongs to term 7`)
		ref.Tell(msg{"write", p.Ref()})
		p.Expect("8.1")
		p.Expect("8.1")
		requireAgreement(t, j, "ahead")
		synctest.Wait()
		status, _ := singleton.StatusOf(s, "one")
		require.Equal(t, singleton.Generation{Term: 8, Seq: 1}, status.Generation)
		claim, err := j.Claim(t.Context(), "behind", journal.WriterID{}, journal.Bounds{})
		require.NoError(t, err)
		require.LessOrEqual(t, claim.Epoch, uint64(8<<32|2))
	})
}

// Where nothing is left to count, an instance fails with a reason instead of beginning
// again.
func TestAnInstanceWhoseGenerationDoesNotFitFailsWithAReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		j := journal.NewMemory()
		_, err := j.Claim(t.Context(), "diary", journal.WriterID{}, journal.Bounds{Least: math.MaxInt64})
		require.NoError(t, err)
		failures := testkit.NewProbe[error](t, s)
		actor.Spawn(s, behaviors.Singleton(func() actor.Behavior[msg] {
			return behaviors.Supervise(diary("diary", j)(), actor.Strategy{Decide: func(err error) actor.Directive {
				failures.Ref().Tell(err)
				return actor.Stop
			}})
		}), "one")
		require.ErrorIs(t, failures.Receive(), persistence.ErrInvalid)
	})
}
