package placement

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/singleton"
)

// Leader is the elected node. Role is the oldest node with the role. OnNode is the node of that
// name. While that node is gone there is no owner.
func TestAnchorsSayWhoseASingletonIs(t *testing.T) {
	t.Parallel()
	v := home.View{Nodes: []home.Node{
		{Name: "a", UpNumber: 3, Roles: []string{"coordinator"}, Up: true, Reachable: true, Ready: true},
		{Name: "b", UpNumber: 2, Roles: []string{"coordinator"}, Up: true, Reachable: true, Ready: true},
		{Name: "c", UpNumber: 1, Roles: []string{"worker"}, Up: true, Reachable: true, Ready: true},
		{Name: "d", UpNumber: 4, Roles: []string{"worker"}, Up: true, Reachable: false, Ready: true},
		{Name: "e", UpNumber: 5, Roles: []string{"edge"}, Up: true, Reachable: true, Ready: true, Draining: true},
	}}
	for _, c := range []struct {
		name   string
		anchor Anchor
		elect  election
		avoid  []string
		want   string
		why    map[string]int
	}{
		{name: "leader", anchor: Leader(), elect: oldest(""), want: "c"},
		{name: "leader with a role", anchor: Leader(), elect: oldest("coordinator"), want: "b"},
		{name: "a leader that leaves is none", anchor: Leader(), elect: oldest("edge"), why: map[string]int{filterElection: 3, filterUnreachable: 1, filterDraining: 1}},
		{name: "an unreachable leader takes nothing", anchor: Leader(), elect: lowestAddress("nobody"), why: map[string]int{filterElection: 3, filterUnreachable: 1, filterDraining: 1}},
		{name: "an election that panics is by age", anchor: Leader(), elect: ownElection(func(a, b membership.Member) int { panic("no") }), want: "c"},
		{name: "the oldest of a role", anchor: Role("coordinator"), want: "b"},
		{name: "of a role, elsewhere than it failed", anchor: Role("coordinator"), avoid: []string{"b"}, want: "a"},
		{name: "of a role, where it failed everywhere", anchor: Role("coordinator"), avoid: []string{"b", "a"}, want: "b"},
		{name: "a role of no node", anchor: Role("gpu"), why: map[string]int{filterRoles: 3, filterUnreachable: 1, filterDraining: 1}},
		{name: "a node", anchor: OnNode("a"), want: "a"},
		{name: "a node that is unreachable", anchor: OnNode("d"), why: map[string]int{filterRequired: 3, filterUnreachable: 1, filterDraining: 1}},
		{name: "a node that is drained", anchor: OnNode("e"), why: map[string]int{filterRequired: 3, filterUnreachable: 1, filterDraining: 1}},
		{name: "a node that is none", anchor: OnNode("x"), why: map[string]int{filterRequired: 3, filterUnreachable: 1, filterDraining: 1}},
	} {
		elect := c.elect
		if elect.Order.Compare == nil {
			elect = oldest("")
		}
		n, err := c.anchor.resolve("catalog", v, elect, c.avoid)
		require.Equal(t, c.want, n.Name, c.name)
		if c.want != "" {
			require.NoError(t, err, c.name)
			continue
		}
		var none *NoEligibleNodesError
		require.ErrorAs(t, err, &none, c.name)
		require.Equal(t, c.why, none.Removed, c.name)
	}
}

// A singleton that no node may own is refused, and claims no term; likewise an invalid one.
func TestASingletonThatNobodyMayOwnIsNotRegistered(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a")
	r.failedWith(r.start("catalog", OnNode("ghost")), ErrNoEligibleNodes)
	r.failedWith(r.start("", Leader()), ErrInvalid)
	r.failedWith(r.startSpec(SingletonSpec{Label: "catalog", Type: "kept", Anchor: Role("")}), ErrInvalid)
	r.failedWith(r.startSpec(SingletonSpec{Label: "catalog", Type: "kept", DrainTimeout: -1}), ErrInvalid)
	r.none("catalog")
	require.Empty(t, r.singles)
}

// The first grant is {1,0}, and the answer comes before the instance runs. It is active when the
// node says so, with the same generation.
func TestASingletonStartsAndIsActiveWhenItsNodeSaysSo(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.holdStarts = true
	o := r.answered(r.start("catalog", Leader()))
	require.Equal(t, Ownership{Label: "catalog", Owner: "a", Generation: singleton.Generation{Term: 1}, Phase: SingletonStarting}, o)
	r.is("catalog", SingletonStarting, "a", 1, 0)

	start := r.sends[0].Msg.(home.StartRequest)
	require.Equal(t, singleton.Generation{Term: 1}, start.Generation)
	require.Equal(t, "kept", start.Type)

	r.release()
	r.is("catalog", SingletonActive, "a", 1, 0)
	require.Equal(t, []string{"a"}, r.running("catalog"))
}

// A second start of what is active grants its owner the next number, and starts nothing.
func TestAStartOfWhatRunsThereIsGrantedTheNextNumber(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.start("catalog", Leader())
	o := r.answered(r.start("catalog", Leader()))
	require.Equal(t, Ownership{Label: "catalog", Owner: "a", Generation: singleton.Generation{Term: 1, Seq: 1}, Phase: SingletonActive}, o)
	r.is("catalog", SingletonActive, "a", 1, 1)
	require.Equal(t, []string{"catalog 1.0 a"}, r.started)
}

// A second start while the singleton is starting must not claim another term and start a second
// instance on the same node.
func TestAStartOfWhatIsStartingWaitsForTheSameInstance(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.holdStarts = true
	r.start("catalog", Leader())
	o := r.answered(r.start("catalog", Leader()))
	require.Equal(t, Ownership{Label: "catalog", Owner: "a", Generation: singleton.Generation{Term: 1}, Phase: SingletonStarting}, o)
	r.release()
	require.Equal(t, []string{"catalog 1.0 a"}, r.started)
}

// A request that arrives before the source has answered waits for the answer.
func TestTwoStartsAtOnceStartOneInstance(t *testing.T) {
	t.Parallel()
	r := newSourceRig(t, newFakeSource(), "a", "b")
	r.holdCalls = true
	first, second := r.start("catalog", Leader()), r.start("catalog", Leader())
	r.pending(first)
	r.answerNext()
	require.Equal(t, SingletonStarting, r.answered(first).Phase)
	require.Equal(t, singleton.Generation{Term: 1}, r.answered(second).Generation)
	require.Equal(t, []string{"catalog 1.0 a"}, r.started)
}

// What is active on a live node is moved when the start names another: the old instance ends first,
// with its generation until then.
func TestAStartElsewhereStopsTheOldInstanceFirst(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.start("catalog", OnNode("a"))
	r.holdStops = true
	o := r.answered(r.start("catalog", OnNode("b")))
	require.Equal(t, Ownership{Label: "catalog", Owner: "a", Generation: singleton.Generation{Term: 1}, Phase: SingletonDraining}, o)
	r.is("catalog", SingletonDraining, "a", 1, 0)
	require.Equal(t, []string{"a"}, r.running("catalog"))

	again := r.answered(r.start("catalog", OnNode("b")))
	require.Equal(t, o, again, "to ask for what is under way changes nothing")
	r.failedWith(r.start("catalog", OnNode("a")), ErrInProgress)

	r.release()
	r.is("catalog", SingletonActive, "b", 2, 0)
	require.Equal(t, []string{"catalog 1.0 a", "catalog 2.0 b"}, r.started)
	require.Equal(t, OnNode("b"), singleIn(r.singles["catalog"]).Anchor)
}

// A label is a spec's or a singleton's.
func TestALabelIsOfASpecOrOfASingleton(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a")
	r.ask(func(to home.Token) home.Input { return submit{Token: to, Spec: Spec{Label: "catalog", Type: "kept"}} })
	r.failedWith(r.start("catalog", Leader()), ErrExists)
	r.start("minter", Leader())
	r.failedWith(r.ask(func(to home.Token) home.Input { return submit{Token: to, Spec: Spec{Label: "minter", Type: "kept"}} }), ErrExists)
	require.NotContains(t, r.singles, "catalog")
}

// A start with another spec has the next instance made of that.
func TestAStartWithAnotherSpecKeepsIt(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.start("catalog", Leader())
	spec := singleOf("catalog", OnNode("a"))
	spec.State = []byte{1}
	r.answered(r.startSpec(spec))
	r.is("catalog", SingletonActive, "a", 1, 1)
	require.Equal(t, spec, singleIn(r.singles["catalog"]))

	r.crash("a")
	r.is("catalog", SingletonOwnerless, "", 1, 1)
}

// What cannot be started is tried again, later and later, with a generation of its own each time,
// and says why.
func TestASingletonThatDoesNotStartIsTriedAgain(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.failStart = func(home.StartRequest, home.NodeID) string { return "no such type" }
	r.start("catalog", Leader())
	o := r.is("catalog", SingletonStarting, "a", 1, 0)
	require.Contains(t, o.Error, "no such type")

	begun := r.now
	var tries []time.Duration
	for len(tries) < 7 {
		before := r.singles["catalog"].Granted
		r.pass(100 * time.Millisecond)
		if r.singles["catalog"].Granted != before {
			tries = append(tries, r.now.Sub(begun))
		}
	}
	require.Equal(t, []time.Duration{1, 3, 7, 15, 31, 61, 91}, inSeconds(tries))

	r.failStart = nil
	r.pass(30 * time.Second)
	o = r.is("catalog", SingletonActive, "a", 1, 8)
	require.Empty(t, o.Error)
}

func inSeconds(all []time.Duration) []time.Duration {
	for i := range all {
		all[i] = all[i].Round(time.Second) / time.Second
	}
	return all
}

// A singleton of a role is then tried on another node that has the role.
func TestASingletonOfARoleIsTriedOnAnotherNode(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a:worker", "b:worker")
	r.failStart = func(_ home.StartRequest, on home.NodeID) string {
		if on.Name == "a" {
			return "out of memory"
		}
		return ""
	}
	r.start("catalog", Role("worker"))
	r.is("catalog", SingletonStarting, "a", 1, 0)
	r.pass(time.Second)
	r.is("catalog", SingletonActive, "b", 2, 0)
	r.pass(time.Hour)
	r.is("catalog", SingletonActive, "b", 2, 0)
}

// An instance that ends by itself is started again where it was, with the next number.
func TestAnInstanceThatEndsIsStartedAgainInPlace(t *testing.T) {
	t.Parallel()
	r := newSingletonsRig(t, "a", "b")
	r.start("catalog", Leader())
	r.end("a", "catalog", "out of tea")
	o := r.is("catalog", SingletonStarting, "a", 1, 0)
	require.Contains(t, o.Error, "out of tea")
	r.pass(time.Second)
	r.is("catalog", SingletonActive, "a", 1, 1)
	r.end("a", "catalog", "")
	r.pass(time.Second)
	r.is("catalog", SingletonStarting, "a", 1, 1)
	r.pass(time.Second)
	r.is("catalog", SingletonActive, "a", 1, 2)
	require.Equal(t, []string{"catalog 1.0 a", "catalog 1.1 a", "catalog 1.2 a"}, r.started)
}
