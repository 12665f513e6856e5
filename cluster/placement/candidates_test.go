package placement

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/codec"
)

// ready returns a node that is eligible for any spec and runs those actors.
func ready(name string, runs ...string) home.Node {
	slices.Sort(runs)
	return home.Node{Name: name, Address: name, Incarnation: 1, UpNumber: 1, Up: true, Reachable: true, Ready: true, Actors: runs}
}

func viewOf(nodes ...home.Node) home.View { return home.View{Nodes: nodes} }

func nodeOf(t *testing.T, s Spec, v home.View, by Strategy, avoid ...string) string {
	t.Helper()
	d, err := choose(s, v, s.Constraints.AntiAffinity, by, avoid...)
	require.NoError(t, err)
	return d.Node
}

func TestANodeIsEligibleWhenAllConstraintsHold(t *testing.T) {
	worker := ready("beta", "writer/c1")
	worker.Roles = []string{"worker", "gpu"}
	worker.Meta = map[string]string{"region": "us-west", "disk": "ssd", "more": ""}
	for _, row := range []struct {
		name string
		c    Constraints
		why  string
	}{
		{"none", Constraints{}, ""},
		{"its role", Constraints{Roles: []string{"worker"}}, ""},
		{"one of its roles", Constraints{Roles: []string{"edge", "gpu"}}, ""},
		{"another role", Constraints{Roles: []string{"edge"}}, filterRoles},
		{"a role like its own", Constraints{Roles: []string{"tpu"}}, filterRoles},
		{"roles are not patterns", Constraints{Roles: []string{"work", "Worker", ""}}, filterRoles},
		{"its metadata", Constraints{Meta: map[string]string{"region": "us-west"}}, ""},
		{"two of its pairs", Constraints{Meta: map[string]string{"region": "us-west", "disk": "ssd"}}, ""},
		{"one of two pairs", Constraints{Meta: map[string]string{"region": "us-west", "disk": "hdd"}}, filterMeta},
		{"another value", Constraints{Meta: map[string]string{"region": "eu-west"}}, filterMeta},
		{"a key that it lacks, of no value", Constraints{Meta: map[string]string{"zone": ""}}, filterMeta},
		{"a key that it has, of no value", Constraints{Meta: map[string]string{"more": ""}}, ""},
		{"avoids what it does not run", Constraints{AntiAffinity: []string{"reader/c1"}}, ""},
		{"avoids the second of two", Constraints{AntiAffinity: []string{"reader/c1", "writer/c1"}}, filterAffinity},
		{"with what it runs", Constraints{ColocateWith: "writer/c1"}, ""},
		{"with what it does not run", Constraints{ColocateWith: "writer/c"}, filterColocation},
		{"itself", Constraints{RequiredNode: "beta"}, ""},
		{"another", Constraints{RequiredNode: "alpha"}, filterRequired},
	} {
		t.Run(row.name, func(t *testing.T) {
			require.Equal(t, row.why, refuses(worker, with("reader", row.c), row.c.AntiAffinity))
		})
	}
	// A node without metadata.
	require.Equal(t, filterMeta, refuses(ready("a"), with("s", Constraints{Meta: map[string]string{"region": "us-west"}}), nil))
}

func TestEachConstraintByItselfKeepsANodeOut(t *testing.T) {
	all := Constraints{
		Roles: []string{"worker"}, Meta: map[string]string{"disk": "ssd"}, AntiAffinity: []string{"rival"},
		ColocateWith: "anchor", RequiredNode: "beta",
	}
	fits := ready("beta", "anchor")
	fits.Roles, fits.Meta = []string{"worker"}, map[string]string{"disk": "ssd"}
	require.Empty(t, violates(fits, all, all.AntiAffinity))
	for why, spoil := range map[string]func(*home.Node){
		filterRoles:      func(n *home.Node) { n.Roles = []string{"edge"} },
		filterMeta:       func(n *home.Node) { n.Meta = map[string]string{"disk": "hdd"} },
		filterAffinity:   func(n *home.Node) { n.Actors = []string{"anchor", "rival"} },
		filterColocation: func(n *home.Node) { n.Actors = nil },
		filterRequired:   func(n *home.Node) { n.Name = "alpha" },
	} {
		n := fits
		spoil(&n)
		require.Equal(t, why, violates(n, all, all.AntiAffinity))
	}
}

func TestNothingIsPlacedOnANodeThatIsNotAlive(t *testing.T) {
	for why, spoil := range map[string]func(*home.Node){
		filterDown:        func(n *home.Node) { n.Up = false },
		filterUnreachable: func(n *home.Node) { n.Reachable = false },
		filterNotReady:    func(n *home.Node) { n.Ready = false },
		filterDraining:    func(n *home.Node) { n.Draining = true },
	} {
		n := ready("a")
		spoil(&n)
		require.Equal(t, why, refuses(n, specOf("s"), nil))
		require.False(t, n.Alive())
	}
}

func TestNoEligibleNodesNamesWhichFilterRemovedHowMany(t *testing.T) {
	down, far := ready("a"), ready("b")
	down.Up, far.Reachable = false, false
	s := with("s", Constraints{Roles: []string{"worker"}})
	_, err := choose(s, viewOf(down, far, ready("c"), ready("d")), nil, LeastLoaded())
	var why *NoEligibleNodesError
	require.ErrorAs(t, err, &why)
	require.ErrorIs(t, err, ErrNoEligibleNodes)
	require.Equal(t, 4, why.Considered)
	require.Equal(t, map[string]int{"not up": 1, "unreachable": 1, "Roles": 2}, why.Removed)
	require.EqualError(t, err, `placement: no eligible nodes for "s" among 4: removed by Roles 2, not up 1, unreachable 1`)
}

func TestASpecIsTheSameAfterItHasBeenEncoded(t *testing.T) {
	full := Spec{
		Label: "storage/photos", Type: "storage", State: []byte{1, 2, 3}, OnCrash: WaitForReturn(30e9),
		Constraints: Constraints{
			Roles: []string{"worker"}, Meta: map[string]string{"volume": "photos"}, AntiAffinity: []string{"a", "b"},
			ColocateWith: "c", RequiredNode: "d",
		},
	}
	plain := Spec{Label: "l", Type: "t", State: []byte("s")}.WithCrashStrategy(Abandon())
	require.Equal(t, Constraints{}, plain.Constraints)
	for _, s := range []Spec{full, plain} {
		data, err := codec.Marshal(s)
		require.NoError(t, err)
		var back Spec
		require.NoError(t, codec.Unmarshal(data, &back))
		require.True(t, s.Equal(back), "%+v", back)
		require.Equal(t, s.State, back.State)
		require.Equal(t, s.OnCrash, back.OnCrash)
	}
	require.False(t, full.Equal(plain))
}

func TestSpecsThatCannotBePlacedAreInvalid(t *testing.T) {
	for why, tt := range map[string]struct {
		spec  Spec
		field string
	}{
		"needs a label":       {Spec{Type: "t"}, "Spec.Label"},
		"limit is 255":        {Spec{Label: string(make([]byte, 256)), Type: "t"}, "Spec.Label"},
		"needs a type":        {Spec{Label: "l"}, "Spec.Type"},
		"no known crash":      {specOf("l").WithCrashStrategy(CrashStrategy{Kind: 7}), "Spec.OnCrash"},
		"positive duration":   {specOf("l").WithCrashStrategy(WaitForReturn(0)), "Spec.OnCrash.Wait"},
		"waits -1ns":          {specOf("l").WithCrashStrategy(WaitForReturn(-1)), "Spec.OnCrash.Wait"},
		"with itself":         {with("l", Constraints{ColocateWith: "l"}), "Spec.Constraints.ColocateWith"},
		"cannot avoid itself": {with("l", Constraints{AntiAffinity: []string{"l"}}), "Spec.Constraints.AntiAffinity"},
		"both avoid":          {with("l", Constraints{AntiAffinity: []string{"a"}, ColocateWith: "a"}), "Spec.Constraints.AntiAffinity"},
		"cannot be encoded":   {Spec{Label: "l", Type: "t", err: errors.New("the state cannot be encoded")}, "Spec.State"},
		`the label "l\xff" of a spec is not UTF-8`: {specOf("l\xff"), "Spec.Label"},
		`"r\xff" is not UTF-8`:                     {with("l", Constraints{Roles: []string{"r\xff"}}), "Spec.Constraints.Roles"},
		`"v\xff" is not UTF-8`:                     {with("l", Constraints{Meta: map[string]string{"k": "v\xff"}}), "Spec.Constraints.Meta"},
		`"n\xff" is not UTF-8`:                     {with("l", Constraints{RequiredNode: "n\xff"}), "Spec.Constraints.RequiredNode"},
	} {
		err := tt.spec.Validate()
		require.ErrorContains(t, err, why)
		var field *FieldError
		require.ErrorAs(t, err, &field)
		require.Equal(t, tt.field, field.Field, why)
	}
}

func TestSingletonsThatCannotRunAreInvalid(t *testing.T) {
	ok := SingletonSpec{Label: "l", Type: "t"}
	for field, change := range map[string]func(s *SingletonSpec){
		"SingletonSpec.Label":        func(s *SingletonSpec) { s.Label = "" },
		"SingletonSpec.Type":         func(s *SingletonSpec) { s.Type = "t\xff" },
		"SingletonSpec.Anchor":       func(s *SingletonSpec) { s.Anchor.Kind = 9 },
		"SingletonSpec.Anchor.Name":  func(s *SingletonSpec) { s.Anchor = Role("") },
		"SingletonSpec.DrainTimeout": func(s *SingletonSpec) { s.DrainTimeout = -1 },
		"SingletonSpec.State":        func(s *SingletonSpec) { s.err = errors.New("no") },
	} {
		s := ok
		change(&s)
		var bad *FieldError
		require.ErrorAs(t, s.Validate(), &bad, field)
		require.Equal(t, field, bad.Field)
	}
	require.NoError(t, ok.Validate())
}

func TestLeastLoadedTakesTheNodeThatRunsTheFewest(t *testing.T) {
	alpha, beta, dead := ready("alpha", "x", "y"), ready("beta", "z"), ready("dead")
	require.Equal(t, "beta", nodeOf(t, specOf("s"), viewOf(alpha, beta), LeastLoaded()))
	dead.Up = false
	require.Equal(t, "beta", nodeOf(t, specOf("s"), viewOf(alpha, beta, dead), LeastLoaded()))
}

func TestOfEqualNodesTheFirstByNameIsTaken(t *testing.T) {
	for range 100 {
		require.Equal(t, "a", nodeOf(t, specOf("s"), viewOf(ready("a"), ready("b"), ready("c")), LeastLoaded()))
	}
	require.Equal(t, "b", nodeOf(t, specOf("s"), viewOf(ready("a", "x"), ready("b"), ready("c")), LeastLoaded()))
}

func TestPinnedTakesAnotherNodeWhileItsOwnCannotBeHad(t *testing.T) {
	beta := ready("beta", "much", "to", "do")
	require.Equal(t, "beta", nodeOf(t, specOf("s"), viewOf(ready("alpha"), beta), Pinned("beta")))
	beta.Up = false
	require.Equal(t, "alpha", nodeOf(t, specOf("s"), viewOf(ready("alpha"), beta), Pinned("beta")))
	require.Equal(t, "alpha", nodeOf(t, specOf("s"), viewOf(ready("alpha")), Pinned("beta")))
}

func TestRandomIsFairAndTheSameForTheSameSeed(t *testing.T) {
	v := viewOf(ready("a"), ready("b"), ready("c"))
	draw := func(seed uint64, n int) (names []string) {
		by := Random(seed)
		for range n {
			names = append(names, nodeOf(t, specOf("s"), v, by))
		}
		return names
	}
	first, again := draw(7, 50), draw(7, 50)
	require.Equal(t, first, again)
	require.NotEqual(t, draw(7, 50), draw(8, 50))
	counts := map[string]int{}
	for _, name := range draw(9, 3000) {
		counts[name]++
	}
	for _, name := range []string{"a", "b", "c"} {
		require.InDelta(t, 1000, counts[name], 200)
	}
}

func TestScoresThatAreNoPositiveNumberNeverWin(t *testing.T) {
	scores := map[string]float64{"a": math.NaN(), "b": 0, "c": -1, "d": math.Inf(-1), "e": 0.1}
	by := StrategyFunc(func(n home.Node, _ Spec, _ home.View) float64 { return scores[n.Name] })
	v := viewOf(ready("a"), ready("b"), ready("c"), ready("d"), ready("e"))
	require.Equal(t, "e", nodeOf(t, specOf("s"), v, by))
	delete(scores, "e")
	_, err := choose(specOf("s"), v, nil, by)
	var why *NoEligibleNodesError
	require.ErrorAs(t, err, &why)
	require.Equal(t, map[string]int{"strategy": 5}, why.Removed)
	scores["b"] = math.Inf(1)
	require.Equal(t, "b", nodeOf(t, specOf("s"), v, by))
}

func TestAStrategyThatPanicsIsAnError(t *testing.T) {
	by := StrategyFunc(func(home.Node, Spec, home.View) float64 { panic("no idea") })
	_, err := choose(specOf("s"), viewOf(ready("a")), nil, by)
	require.ErrorIs(t, err, ErrStrategy)
	require.ErrorContains(t, err, "no idea")
}

func TestNodesToAvoidAreTakenWhenThereIsNoOther(t *testing.T) {
	v := viewOf(ready("a"), ready("b", "x"))
	require.Equal(t, "b", nodeOf(t, specOf("s"), v, LeastLoaded(), "a"))
	require.Equal(t, "a", nodeOf(t, specOf("s"), v, LeastLoaded(), "a", "b"))
}

func TestDecisionsReadWell(t *testing.T) {
	d, err := choose(specOf("s"), viewOf(ready("a", "x")), nil, LeastLoaded())
	require.NoError(t, err)
	require.Equal(t, "s on a (LeastLoaded, 0.50)", d.String())
}
