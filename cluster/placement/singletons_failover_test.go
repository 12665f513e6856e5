package placement

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/singleton"
)

// The owner dies, and the next one starts with a higher term.
func TestALostOwnerIsReplacedWithAHigherTerm(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.start("catalog", Leader())
	r.crash("a")
	r.is("catalog", SingletonActive, "b", 2, 0)
	require.Equal(t, []string{"catalog 1.0 a", "catalog 2.0 b"}, r.started)
}

// An owner is not replaced until it is known to have stopped.
func TestAnOwnerThatMayStillRunIsNotReplaced(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.start("catalog", Leader())
	a := r.nodes["a"]
	delete(r.nodes, "a")
	r.gone = []home.Gone{{Name: "a", Incarnation: a.Incarnation, Until: r.now.Add(10 * time.Second)}}
	r.look()
	r.is("catalog", SingletonDraining, "a", 1, 0)
	r.pass(9 * time.Second)
	r.is("catalog", SingletonDraining, "a", 1, 0)
	require.Len(t, r.started, 1)
	delete(r.agents, home.IDOf(a))
	r.pass(time.Second)
	r.is("catalog", SingletonActive, "b", 2, 0)
}

// While its node is gone, a singleton anchored at the node has no owner, and keeps its generation.
// When the node returns the singleton starts there, with a higher term.
func TestWhatIsBoundToANodeWaitsForIt(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.start("catalog", OnNode("b"))
	r.crash("b")
	r.pass(time.Hour)
	o := r.is("catalog", SingletonOwnerless, "", 1, 0)
	require.ErrorContains(t, errorOf(o), "no eligible nodes")
	r.join(99, "b")
	o = r.is("catalog", SingletonActive, "b", 2, 0)
	require.Empty(t, o.Error)
}

func errorOf(o Ownership) error { return &remoteText{o.Error} }

type remoteText struct{ text string }

func (e *remoteText) Error() string { return e.text }

// A restart that nobody has noticed also loses the instance.
func TestANodeThatIsBackInAnotherIncarnationHasLostItsInstance(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.start("catalog", OnNode("b"))
	delete(r.agents, home.IDOf(r.nodes["b"]))
	r.join(2, "b")
	r.is("catalog", SingletonActive, "b", 2, 0)
	require.Equal(t, []string{"catalog 1.0 b", "catalog 2.0 b"}, r.started)
}

// The source fails while the owner is to be replaced. It is asked again, and the dead node is not
// shown as the owner.
func TestAFailoverIsTriedAgainUntilTheSourceAnswers(t *testing.T) {
	t.Parallel()
	r := newSourceRig(t, newFakeSource(), "a", "b")
	r.start("catalog", Leader())
	r.refuse = errStore
	r.crash("a")
	o := r.is("catalog", SingletonOwnerless, "", 1, 0)
	require.Contains(t, o.Error, errStore.Error())
	r.pass(time.Minute)
	r.is("catalog", SingletonOwnerless, "", 1, 0)
	require.Less(t, r.source.asked, 5)
	r.refuse = nil
	r.pass(30 * time.Second)
	r.is("catalog", SingletonActive, "b", 2, 0)
}

// If the destination never starts the singleton, it does not stay Starting forever. When the
// destination dies, the next one starts it.
func TestAnOwnerThatDiesWhileItStartsIsReplaced(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.holdStarts = true
	r.start("catalog", Leader())
	r.crash("a")
	r.is("catalog", SingletonStarting, "b", 2, 0)
	r.release()
	r.is("catalog", SingletonActive, "b", 2, 0)
}

// The coordinator's node was the owner, and ran specs, too. All of it is on the survivors. The next
// owner has the next term.
func TestACoordinatorThatDiesWithWhatItRanIsReplaced(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b", "c")
	r.start("catalog", Leader())
	r.start("minter", OnNode("c"))
	for _, label := range []string{"x", "y", "z"} {
		r.ask(func(to home.Token) home.Input { return submit{Token: to, Spec: Spec{Label: label, Type: "kept"}} })
	}
	delete(r.agents, home.IDOf(r.nodes["a"]))
	delete(r.nodes, "a")
	r.boot()
	r.is("catalog", SingletonActive, "b", 2, 0)
	r.is("minter", SingletonActive, "c", 1, 0)
	for _, s := range r.m.Statuses() {
		require.Equal(t, Running, s.State)
		require.Len(t, r.running(s.Spec.Label), 1)
	}
	require.Equal(t, []string{"c"}, r.running("minter"))
}

// A new coordinator keeps running instances.
func TestANewCoordinatorKeepsWhatRuns(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.start("catalog", OnNode("b"))
	r.start("catalog", OnNode("b"))
	r.boot()
	r.is("catalog", SingletonActive, "b", 1, 1)
	require.Len(t, r.started, 1)
	require.Len(t, r.singles, 1)
}

// A new coordinator waits for a start that its predecessor has requested, and does not request it
// again.
func TestANewCoordinatorWaitsForWhatIsStarting(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.holdStarts = true
	r.start("catalog", OnNode("b"))
	b, start := home.IDOf(r.nodes["b"]), r.sends[0].Msg.(home.StartRequest)
	r.agents[b]["catalog"] = home.Reported{ID: start.ID, Label: "catalog", Generation: start.Generation}
	r.boot()
	r.is("catalog", SingletonStarting, "b", 1, 0)
	require.Equal(t, start.ID, r.sends[0].Msg.(home.StartRequest).ID)
	r.hear(b, home.FromAgent{StartAck: &home.StartAck{ID: start.ID, Label: "catalog"}})
	r.is("catalog", SingletonActive, "b", 1, 0)
}

// A move that the old coordinator has begun is ended by the new one, with the term that was granted
// for it.
func TestANewCoordinatorEndsAMove(t *testing.T) {
	t.Parallel()
	r, _ := moving(t, 0)
	r.boot()
	r.is("catalog", SingletonDraining, "b", 1, 0)
	r.release()
	r.is("catalog", SingletonActive, "a", 2, 0)
	require.Equal(t, []string{"catalog 1.0 b", "catalog 2.0 a"}, r.started)
}

// The new coordinator waits for a node that may run the instance but has not reported yet.
func TestANewCoordinatorDoesNotStartWhatASilentNodeMayRun(t *testing.T) {
	t.Parallel()
	r, _ := moving(t, 0)
	r.nodes["b"] = func(n home.Node) home.Node { n.Reachable = false; return n }(r.nodes["b"])
	agent := r.agents[home.IDOf(r.nodes["b"])]
	delete(r.agents, home.IDOf(r.nodes["b"])) // it cannot be heard
	r.boot()
	r.pass(time.Hour)
	r.is("catalog", SingletonDraining, "b", 1, 0)
	require.Len(t, r.started, 1)

	r.agents[home.IDOf(r.nodes["b"])] = agent
	r.holdStarts, r.holdStops = false, false
	r.change("b", func(n *home.Node) { n.Reachable = true })
	r.pass(2 * time.Minute)
	r.is("catalog", SingletonActive, "a", 2, 0)
	require.Equal(t, []string{"a"}, r.running("catalog"))
}

// If a new coordinator finds an instance with a lower generation than the last grant, it stops that
// instance before it starts the owner's.
func TestAnInstanceOfAnEarlierGenerationIsStopped(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b", "c")
	r.start("catalog", OnNode("b"))
	r.agents[home.IDOf(r.nodes["c"])]["catalog"] = home.Reported{ID: home.RequestID{Epoch: 1, N: 77}, Label: "catalog", Generation: singleton.Generation{Term: 1}, Started: true}
	granted := r.singles["catalog"] // its coordinator has ended before it has told the node
	granted.Granted = singleton.Generation{Term: 2}
	r.singles["catalog"] = granted
	r.holdStops = true
	r.boot()
	r.is("catalog", SingletonDraining, "b", 1, 0)
	require.Len(t, r.started, 1)
	r.release()
	r.is("catalog", SingletonActive, "b", 2, 0)
	require.Equal(t, []string{"b"}, r.running("catalog"))
}

// A coordinator that is the leader again begins with what the journal says then.
func TestACoordinatorRemembersNothingOfItsFormerReign(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.start("catalog", OnNode("a"))
	old := r.m
	r.boot()
	r.answered(r.start("catalog", OnNode("b")))
	r.is("catalog", SingletonActive, "b", 2, 0)
	o, _ := old.ownership("catalog")
	require.Equal(t, singleton.Generation{Term: 1}, o.Generation)
	r.boot()
	r.is("catalog", SingletonActive, "b", 2, 0)
}

// A coordinator that does not know that it has been replaced must write to the journal before it
// acts on a grant, or reports one.
func TestTheJournalKnowsOfGrantsFirst(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.start("catalog", OnNode("a"))
	grown := func() func(what string) {
		before := r.singles["catalog"]
		return func(what string) {
			require.NotEqual(t, before, r.singles["catalog"], "%s left no record in the journal", what)
		}
	}
	r.holdStops = true
	marked := grown()
	r.startSpec(singleOf("catalog", OnNode("a")))
	marked("the next number")
	marked = grown()
	to := r.startSpec(singleOf("catalog", OnNode("b")))
	marked("the next term")
	require.Equal(t, SingletonDraining, r.answered(to).Phase)
	r.release()
	marked = grown()
	r.stop("catalog")
	marked("the stop")
	r.forgotten()
}

// A backup of the source is restored. The coordinator knows the terms that it has lost.
func TestASourceThatWasRestoredGrantsTermsAboveTheLostOnes(t *testing.T) {
	t.Parallel()
	r := newSourceRig(t, newFakeSource(), "a", "b")
	r.source.terms["catalog"] = 8
	r.start("catalog", Leader())
	r.is("catalog", SingletonActive, "a", 9, 0)
	r.source.terms["catalog"] = 2
	r.crash("a")
	r.is("catalog", SingletonActive, "b", 10, 0)
}

// The journal of an instance has a later term than the coordinator's. The next instance is above
// both, on the same node as well.
func TestAnInstanceThatItsJournalRefusesGetsATermAboveTheJournal(t *testing.T) {
	t.Parallel()
	refused := func(r *singletonsRig, term uint64) {
		id := home.IDOf(r.nodes["a"])
		was := r.agents[id]["catalog"]
		delete(r.agents[id], "catalog")
		r.hear(id, home.FromAgent{Ended: &home.Ended{ID: was.ID, Label: "catalog", Error: "fenced", FencedBy: term}})
	}
	r := newSingletonsRig(t, "a", "b")
	r.start("catalog", OnNode("a"))
	refused(r, 6)
	r.pass(time.Minute)
	r.is("catalog", SingletonActive, "a", 7, 0)
	refused(r, 6) // of an earlier claim: the term is above it already
	r.pass(time.Minute)
	r.is("catalog", SingletonActive, "a", 7, 1)

	r.holdStarts = true
	r.start("other", OnNode("b"))
	start := r.held[0].Msg.(home.StartRequest)
	r.held, r.holdStarts = nil, false
	r.hear(home.IDOf(r.nodes["b"]), home.FromAgent{StartAck: &home.StartAck{ID: start.ID, Label: "other", Error: "fenced", FencedBy: 3}})
	r.pass(time.Minute)
	r.is("other", SingletonActive, "b", 4, 0)
}
