package clustertest_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A troubled journal is shared by all nodes and may be out of order.
type troubled struct {
	*journal.Memory

	mu     sync.Mutex // guards all below
	down   bool       // nothing can be reached
	mute   int        // how many further appends are stored and their answers lost
	claims int
}

var errDown = errors.New("the journal is down")

func (j *troubled) set(change func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change()
}

// loses reports whether the answer to an append is to be lost.
func (j *troubled) loses() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.mute == 0 {
		return false
	}
	j.mute--
	return true
}

func (j *troubled) isDown() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.down
}

func (j *troubled) claimed() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.claims
}

func (j *troubled) Claim(ctx context.Context, id string, w journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	j.set(func() { j.claims++ })
	if j.isDown() {
		return journal.Claim{}, errors.Join(persistence.ErrUnavailable, errDown)
	}
	return j.Memory.Claim(ctx, id, w, b)
}

func (j *troubled) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	results := make([]error, len(reqs))
	if j.isDown() {
		for i := range results {
			results[i] = errors.Join(persistence.ErrUnavailable, errDown)
		}
		return results
	}
	results = j.Memory.Append(ctx, reqs)
	if j.loses() {
		for i := range results {
			results[i] = persistence.ErrUnknown
		}
	}
	return results
}

// troubledStory is a cluster with a log on a journal that may be in trouble.
func troubledStory(t *testing.T, nodes int) (*story, *troubled) {
	t.Helper()
	j := &troubled{Memory: journal.NewMemory()}
	s := &story{Cluster: clustertest.Start(t, nodes), t: t, census: testkit.NewCensus(t), logs: map[string]actor.ActorRef[Entry]{}, journal: j}
	for _, n := range s.Nodes() {
		s.manage(n.View().Self.Name)
	}
	s.AwaitQuiet()
	return s, j
}

// sound reads the journal and returns its entries. It checks that the numbers are consecutive, that
// epochs never fall, and that no entry is there twice.
func (s *story) sound() (all []int) {
	s.t.Helper()
	var seq, epoch uint64
	seen := map[int]bool{}
	for r, err := range s.journal.Read(s.t.Context(), "entries", 1, 1<<62) {
		require.NoError(s.t, err)
		require.Equal(s.t, seq+1, r.Seq)
		require.GreaterOrEqual(s.t, r.Epoch, epoch, "nobody writes under an epoch that has been overtaken")
		seq, epoch = r.Seq, r.Epoch
		event, err := extension.Unpack(nil, extension.Payload{Type: r.Type, Data: r.Payload})
		require.NoError(s.t, err)
		n := event.(Kept).N
		require.False(s.t, seen[n], "entry %d is there twice", n)
		seen[n] = true
		all = append(all, n)
	}
	return all
}

// No instance starts while the journal is down. The claim is repeated with growing
// delays, and 5 s after the return of the journal the log is there.
func TestALogWaitsForAJournalThatIsDown(t *testing.T) {
	for _, outage := range []time.Duration{10 * time.Second, time.Minute, 10 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			s, j := troubledStory(t, 3)
			s.write("n3", 0, 10)
			require.Equal(t, numbers(10), s.all("n3"))
			j.set(func() { j.down = true })
			s.Crash("n1")
			before := j.claimed()
			time.Sleep(outage)
			require.Equal(t, numbers(10), s.sound())
			tried := j.claimed() - before
			require.Greater(t, tried, int(outage/(20*time.Second)))
			require.Less(t, tried, int(outage/time.Second)+10, "it backs off")
			s.write("n3", 10, 20) // they are kept
			begin := time.Now()
			j.set(func() { j.down = false })
			for len(s.sound()) < 20 {
				time.Sleep(10 * time.Millisecond)
				require.LessOrEqual(t, time.Since(begin), 5*time.Second, "after %v", outage)
			}
			require.Equal(t, numbers(20), s.all("n2"))
			require.Equal(t, "n2", s.host())
		})
	}
}

// The journal fails under an instance that runs.
func TestALogWhoseAppendsFailIsBackSoonAfterTheJournal(t *testing.T) {
	for _, outage := range []time.Duration{10 * time.Second, long(10 * time.Minute)} {
		synctest.Test(t, func(t *testing.T) {
			s, j := troubledStory(t, 3)
			s.write("n3", 0, 10)
			require.Equal(t, numbers(10), s.all("n3"))
			term := s.generation("n1").Term
			j.set(func() { j.down = true })
			s.write("n3", 10, 11)
			time.Sleep(outage)
			require.Equal(t, numbers(10), s.sound())
			begin := time.Now()
			j.set(func() { j.down = false })
			s.write("n3", 11, 20)
			for len(s.sound()) < 19 {
				time.Sleep(10 * time.Millisecond)
				require.LessOrEqual(t, time.Since(begin), 5*time.Second, "after %v", outage)
			}
			require.Equal(t, "n1", s.host(), "a journal that is down is no reason to move")
			require.Equal(t, term, s.generation("n1").Term)
			require.Equal(t, s.sound(), s.all("n2"))
		})
	}
}

// The answers to some appends are lost. The writer finds out whether they were stored,
// and nothing is stored twice, with and without a change of the host meanwhile.
func TestAnAppendWhoseAnswerIsLostIsStoredOnce(t *testing.T) {
	for name, disturb := range map[string]func(s *story){
		"the host stays":  func(*story) {},
		"the host dies":   func(s *story) { s.Crash("n1") },
		"the host leaves": func(s *story) { s.Leave("n1") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, j := troubledStory(t, 3)
				j.set(func() { j.mute = 3 })
				s.write("n3", 0, 10)
				time.Sleep(time.Millisecond)
				disturb(s)
				time.Sleep(10 * time.Second)
				s.write("n3", 10, 20)
				time.Sleep(time.Second)
				stored := s.sound()
				require.Subset(t, stored, []int{0, 19})
				require.Equal(t, stored, s.all("n2"))
				if name != "the host dies" {
					require.Equal(t, numbers(20), stored)
				}
			})
		})
	}
}

// A member is being downed when the cluster splits, and two sides survive,
// each with a log on the same journal. They fence each other off with growing delays, and the
// journal stays sound. When the cut heals, the smaller side dissolves.
func TestTwoSidesThatBothSurviveNeverSpoilTheJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, j := troubledStory(t, 5)
		s.write("n5", 0, 10)
		require.Equal(t, numbers(10), s.all("n5"))
		splitIntoTwoThatSurvive(t, s)
		before := j.claimed()
		for n := range 20 {
			s.write("n4", 100+n, 101+n)
			s.write("n5", 200+n, 201+n)
			time.Sleep(time.Second)
		}
		s.sound()
		require.Less(t, j.claimed()-before, 41, "the duel goes on no faster than they write")
		s.Heal()
		whole(t, s.Cluster, 8*time.Second, named(5)...)
		s.AwaitQuiet()
		require.Equal(t, 1, s.census.Running())
		require.Equal(t, s.sound(), s.all("n1"))
		require.Subset(t, s.sound(), numbers(10))
	})
}

// The instance of the side that survives has been silent while the other side's wrote. It does not
// answer from its old state: when the cluster is whole, it is replaced.
func TestTheInstanceThatOutlivesASplitKnowsWhatTheOtherSideHasStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := troubledStory(t, 5)
		s.write("n5", 0, 10)
		require.Equal(t, numbers(10), s.all("n5"))
		splitIntoTwoThatSurvive(t, s)
		s.write("n5", 10, 11)
		time.Sleep(time.Minute)
		for n := 100; !slices.Contains(s.sound(), n-1); n++ { // the first finds that n2 has claimed the journal
			s.write("n4", n, n+1)
			time.Sleep(20 * time.Second)
			require.Less(t, n, 105)
		}
		require.Equal(t, 2, s.census.Running())
		require.Equal(t, numbers(11), s.all("n5"), "during the split it cannot know")
		s.Heal()
		whole(t, s.Cluster, 8*time.Second, named(5)...)
		s.AwaitQuiet()
		require.Equal(t, 1, s.census.Running())
		require.Equal(t, "n2", s.host())
		require.Equal(t, s.sound(), s.all("n5"))
	})
}

// splitIntoTwoThatSurvive cuts five nodes into two sides while n2 is being downed: n1 and n4 have
// won the half without n2, and n2, n3 and n5 have the majority. Both run an instance.
func splitIntoTwoThatSurvive(t *testing.T, s *story) {
	t.Helper()
	s.Partition([]string{"n2"}, []string{"n1", "n3", "n4", "n5"})
	awaitUnreachable(t, s, "n1", "n2")
	time.Sleep(stableAfter - 200*time.Millisecond)
	s.Heal()
	s.Partition([]string{"n1", "n4"}, []string{"n2", "n3", "n5"})
	time.Sleep(20 * time.Second)
	require.Len(t, s.Node("n1").View().Members, 2, "n1 and n4 have won the half without n2")
	require.Len(t, s.Node("n3").View().Members, 3)
	require.Equal(t, 2, s.census.Running())
}

// awaitUnreachable waits until a node sees another as unreachable.
func awaitUnreachable(t *testing.T, s *story, by, other string) {
	t.Helper()
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		v := s.Node(by).View()
		if m, _ := v.Member(other); !v.Reachable(m) {
			return
		}
		require.Less(t, time.Since(begin), detection)
	}
}
