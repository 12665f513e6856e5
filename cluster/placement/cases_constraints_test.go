package placement

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
)

// Whether a single node may run a spec, and otherwise the filter that removes it.
func TestConstraintsSayWhetherANodeMayRunASpec(t *testing.T) {
	west := map[string]string{"region": "us-west"}
	for name, c := range map[string]struct {
		constraints Constraints
		roles       []string
		meta        map[string]string
		actors      []string
		why         string
	}{
		"1: none, any node":                      {roles: []string{"edge"}},
		"2: a role that it has":                  {constraints: withRole("worker"), roles: []string{"worker"}},
		"2: a role that it has not":              {constraints: withRole("worker"), roles: []string{"edge"}, why: filterRoles},
		"3: one of several roles":                {constraints: Constraints{Roles: []string{"worker", "edge"}}, roles: []string{"edge"}},
		"3: none of several roles":               {constraints: Constraints{Roles: []string{"worker", "edge"}}, roles: []string{"coordinator"}, why: filterRoles},
		"3: a node of several roles":             {constraints: withRole("worker"), roles: []string{"edge", "worker"}},
		"4: metadata that it has":                {constraints: Constraints{Meta: west}, meta: west},
		"4: another value":                       {constraints: Constraints{Meta: west}, meta: map[string]string{"region": "eu-west"}, why: filterMeta},
		"4: no metadata":                         {constraints: Constraints{Meta: west}, why: filterMeta},
		"4: an empty value is not an absent one": {constraints: Constraints{Meta: map[string]string{"region": ""}}, why: filterMeta},
		"5: one pair of two": {
			constraints: Constraints{Meta: map[string]string{"region": "us-west", "disk": "ssd"}}, meta: west, why: filterMeta,
		},
		"5: two pairs of three": {
			constraints: Constraints{Meta: map[string]string{"region": "us-west", "disk": "ssd"}},
			meta:        map[string]string{"region": "us-west", "disk": "ssd", "zone": "b"},
		},
		"6: it runs what is avoided":           {constraints: apart("db/primary"), actors: []string{"db/primary"}, why: filterAffinity},
		"6: it runs something else":            {constraints: apart("db/primary"), actors: []string{"db/replica"}},
		"7: it runs the second of two":         {constraints: apart("x", "y"), actors: []string{"y"}, why: filterAffinity},
		"7: it runs neither of two":            {constraints: apart("x", "y"), actors: []string{"z"}},
		"14: none, beside others":              {actors: []string{"x", "y"}, meta: west},
		"16: a role of one's own":              {constraints: withRole("gpu"), roles: []string{"gpu"}},
		"16: another of one's own":             {constraints: withRole("gpu"), roles: []string{"tpu"}, why: filterRoles},
		"16: roles are compared as a whole":    {constraints: withRole("gpu"), roles: []string{"gpu2", "GPU", "worker"}, why: filterRoles},
		"a node without roles has no role":     {constraints: withRole("worker"), why: filterRoles},
		"what it is to be beside, it runs":     {constraints: beside("x"), actors: []string{"x"}},
		"what it is to be beside, it does not": {constraints: beside("x"), actors: []string{"y"}, why: filterColocation},
	} {
		t.Run(name, func(t *testing.T) {
			n := caseNode("alpha", c.roles...)
			n.Meta, n.Actors = c.meta, c.actors
			s := caseSpec("s", c.constraints)
			d, err := choose(s, home.View{Nodes: []home.Node{n}}, s.Constraints.AntiAffinity, LeastLoaded())
			if c.why != "" {
				require.Equal(t, map[string]int{c.why: 1}, caseRemoved(t, err))
				return
			}
			require.NoError(t, err)
			require.Equal(t, "alpha", d.Node)
		})
	}
}

// A colocated actor goes to the node of its target, however full that node is. Without a target it
// is not placed, and nothing is stored. The same holds while the target's node is unreachable or
// gone.
func TestWhatIsColocatedGoesToItsAnchorOrNowhere(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta")
	require.Equal(t, map[string]int{filterColocation: 2}, r.removedBy(caseSpec("reader", beside("writer/c1"))))
	for _, label := range []string{"writer/c1", "other"} {
		require.Equal(t, "beta", r.place(caseSpec(label, onlyOn("beta"))))
	}
	require.Equal(t, "beta", r.place(caseSpec("reader", beside("writer/c1"))))
	require.Equal(t, []string{"other running beta", "reader running beta", "writer/c1 running beta"}, r.specs())

	r.change("beta", func(n *home.Node) { n.Reachable = false })
	require.Equal(t, map[string]int{filterColocation: 1, filterUnreachable: 1}, r.removedBy(caseSpec("late", beside("writer/c1"))))
	r.crash("beta")
	require.Equal(t, map[string]int{filterColocation: 1}, r.removedBy(caseSpec("late", beside("writer/c1"))))
	require.Equal(t, []string{"other unplaced ", "reader unplaced ", "writer/c1 unplaced "}, r.specs())
}

// The target may also be a singleton.
func TestWhatIsColocatedWithASingletonGoesToIt(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta")
	r.answered(r.start("catalog", OnNode("beta")))
	require.Equal(t, "beta", r.place(caseSpec("reader", beside("catalog"))))
	r.answered(r.start("catalog", OnNode("alpha")))
	require.Equal(t, []string{"alpha"}, r.running("catalog"))
	require.Equal(t, []string{"reader running alpha"}, r.specs(), "it follows")
}

// The required node is taken, however full it is. An unknown required node is not eligible. A
// required node that is down or unreachable is not eligible, and no other node is chosen.
func TestARequiredNodeIsTheOnlyOne(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta")
	for _, label := range []string{"a", "b", "c"} {
		require.Equal(t, "beta", r.place(caseSpec(label, onlyOn("beta"))))
	}
	require.Equal(t, map[string]int{filterRequired: 2}, r.removedBy(caseSpec("d", onlyOn("ghost"))))
	require.Equal(t, map[string]int{filterRequired: 2}, r.removedBy(caseSpec("d", onlyOn("Beta"))))
	r.change("beta", func(n *home.Node) { n.Reachable = false })
	require.Equal(t, map[string]int{filterRequired: 1, filterUnreachable: 1}, r.removedBy(caseSpec("d", onlyOn("beta"))))
	r.crash("beta")
	require.Equal(t, map[string]int{filterRequired: 1}, r.removedBy(caseSpec("d", onlyOn("beta"))))
	require.Equal(t, []string{"a unplaced ", "b unplaced ", "c unplaced "}, r.specs())
}

// The node of the target and RequiredNode must agree.
func TestAnAnchorAndARequiredNodeMustAgree(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta")
	r.place(caseSpec("writer", onlyOn("beta")))
	both := Constraints{ColocateWith: "writer", RequiredNode: "alpha"}
	require.Equal(t, map[string]int{filterColocation: 1, filterRequired: 1}, r.removedBy(caseSpec("reader", both)))
	both.RequiredNode = "beta"
	require.Equal(t, "beta", r.place(caseSpec("reader", both)))
}

// A spec contains what it was built from. By default it is redistributed and may run anywhere.
// Deriving another spec does not change it.
func TestASpecSaysWhatItWasBuiltFrom(t *testing.T) {
	plain := Spec{Label: "storage/photos", Type: "agent", State: []byte{1, 2, 3}}
	require.Equal(t, Redistribute(), plain.OnCrash)
	require.Zero(t, plain.Constraints)

	s := plain.WithCrashStrategy(Abandon())
	require.Equal(t, "storage/photos", s.Label)
	require.Equal(t, "agent", s.Type)
	require.Equal(t, []byte{1, 2, 3}, s.State)
	require.Equal(t, KindAbandon, s.OnCrash.Kind)
	require.Zero(t, s.Constraints)

	s = s.WithConstraints(withRole("worker"))
	require.Equal(t, Abandon(), s.OnCrash)
	require.Equal(t, []string{"worker"}, s.Constraints.Roles)
	require.Zero(t, plain.OnCrash)
	require.Zero(t, plain.Constraints)
	require.NoError(t, s.Validate())
	require.Equal(t, []string{"Redistribute()", "WaitForReturn(30s)", "Abandon()"}, []string{
		Redistribute().String(), WaitForReturn(30 * time.Second).String(), Abandon().String(),
	})
}

// everyField returns a spec of which every field is set.
func everyField() Spec {
	return Spec{
		Label: "storage/photos", Type: "agent", State: []byte{0, 255, 'x'}, OnCrash: WaitForReturn(30*time.Second + 1),
		Constraints: Constraints{
			Roles: []string{"worker", "gpu"}, Meta: map[string]string{"volume": "photos", "": ""},
			AntiAffinity: []string{"db/primary", "db/replica"}, ColocateWith: "writer/c1", RequiredNode: "store-a",
		},
	}
}

// A spec with every field set, one without the optional ones, and one without anything come back
// from the journal and from JSON; TestARequestComesBackFromTheWire has the wire.
func TestASpecComesBackAsItWas(t *testing.T) {
	optional := everyField()
	optional.Constraints.ColocateWith, optional.Constraints.RequiredNode = "", ""
	for _, s := range []Spec{everyField(), optional, {Label: "a", Type: "b"}} {
		for name, through := range map[string]func(Spec) (Spec, error){
			"CBOR": func(s Spec) (back Spec, err error) {
				data, err := codec.Marshal(s)
				if err != nil {
					return s, err
				}
				err = codec.Unmarshal(data, &back)
				return back, err
			},
			"JSON": func(s Spec) (back Spec, err error) {
				data, err := json.Marshal(s)
				if err != nil {
					return s, err
				}
				err = json.Unmarshal(data, &back)
				return back, err
			},
			"journal": func(s Spec) (Spec, error) {
				p, err := extension.Pack(home.Fact{Key: ofSpec + s.Label, Record: &home.Record{Spec: home.Encode(s)}})
				if err != nil {
					return s, err
				}
				back, err := extension.Unpack(nil, p)
				if err != nil {
					return s, err
				}
				return specIn(*back.(home.Fact).Record), nil
			},
		} {
			back, err := through(s)
			require.NoError(t, err, name)
			require.True(t, s.Equal(back), "%s: %+v and %+v", name, s, back)
			require.Equal(t, s.Constraints.ColocateWith, back.Constraints.ColocateWith)
			require.Equal(t, s.Constraints.RequiredNode, back.Constraints.RequiredNode)
		}
	}
}

// All constraints at once. Each is violated in turn, and then none. The error says how many nodes
// each of them has removed.
func TestAllConstraintsMustHoldAtOnce(t *testing.T) {
	s := everyField()
	s.Constraints.Meta = map[string]string{"volume": "photos"}
	good := caseNode("store-a", "gpu")
	good.Meta, good.Actors = map[string]string{"volume": "photos"}, []string{"writer/c1"}
	violations := []struct {
		why    string
		change func(*home.Node)
	}{
		{filterDown, func(n *home.Node) { n.Up = false }},
		{filterNotReady, func(n *home.Node) { n.Ready = false }},
		{filterUnreachable, func(n *home.Node) { n.Reachable = false }},
		{filterDraining, func(n *home.Node) { n.Draining = true }},
		{filterRequired, func(n *home.Node) { n.Name = "store-b" }},
		{filterRoles, func(n *home.Node) { n.Roles = []string{"edge"} }},
		{filterMeta, func(n *home.Node) { n.Meta = map[string]string{"volume": "docs"} }},
		{filterAffinity, func(n *home.Node) { n.Actors = []string{"db/replica", "writer/c1"} }},
		{filterColocation, func(n *home.Node) { n.Actors = nil }},
	}
	all, removed := home.View{}, map[string]int{}
	for i, v := range violations {
		n := good
		v.change(&n)
		_, err := choose(s, home.View{Nodes: []home.Node{n}}, s.Constraints.AntiAffinity, LeastLoaded())
		require.Equal(t, map[string]int{v.why: 1}, caseRemoved(t, err))
		for range i + 1 {
			all.Nodes = append(all.Nodes, n)
		}
		removed[v.why] = i + 1
	}
	_, err := choose(s, all, s.Constraints.AntiAffinity, LeastLoaded())
	require.Equal(t, removed, caseRemoved(t, err))
	require.EqualError(t, err, `placement: no eligible nodes for "storage/photos" among 45: removed by `+
		"AntiAffinity 8, ColocateWith 9, Meta 7, RequiredNode 5, Roles 6, draining 4, not up 1, unreachable 3, without placement 2")

	all.Nodes = append(all.Nodes, good)
	d, err := choose(s, all, s.Constraints.AntiAffinity, LeastLoaded())
	require.NoError(t, err)
	require.Equal(t, Decision{Label: "storage/photos", Node: "store-a", Strategy: "LeastLoaded", Score: 0.5}, d)
	require.Equal(t, "storage/photos on store-a (LeastLoaded, 0.50)", d.String())
}

// A label is any text of UTF-8 of 255 bytes at most, and labels that look alike are kept
// apart.
func TestLabelsMayBeAnyText(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha")
	labels := []string{" ", "a", "A", "a ", "a/b", "a:b", "a//b", "..", "ä", "a\u0308", "\x00", strings.Repeat("é", 127)}
	for _, label := range labels {
		r.place(caseSpec(label, Constraints{}))
	}
	require.Len(t, r.specs(), len(labels))
	r.boot()
	for _, label := range labels {
		require.Equal(t, Running, r.status(label).State)
		r.done(r.remove(label))
	}
	require.Empty(t, r.specs())
}
