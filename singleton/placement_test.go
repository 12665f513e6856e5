package singleton

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/node"
)

// peers makes members in the order of election from words such as "b3*": the name, the
// up-number, and what it is not: "*" not up, "-" without a manager. Roles stand after "/".
func peers(words string) (t Topology) {
	for word := range strings.FieldsSeq(words) {
		word, roles, _ := strings.Cut(word, "/")
		name := strings.TrimRight(word, "*-0123456789")
		p := Peer{ID: node.ID{Address: name, Incarnation: 1}, Name: name, Up: !strings.Contains(word, "*"), Reachable: true}
		_, _ = fmt.Sscanf(strings.TrimLeft(word[len(name):], "*-"), "%d", &p.UpNumber) // without a number it has none
		if roles != "" {
			p.Roles = strings.Split(roles, ",")
		}
		if !strings.Contains(word, "-") {
			p.offered = "one"
		}
		t.Members = append(t.Members, p)
	}
	return t
}

// last elects the last of the candidates; it panics when there is none.
func last(candidates []Peer) (string, bool) { return candidates[len(candidates)-1].Name, true }

func TestTheAnchorChoosesAmongThoseThatMayHost(t *testing.T) {
	for _, c := range []struct {
		members string
		opts    []Option
		host    string
	}{
		{"c3 b1 a2", nil, "c"},
		{"c3 b1 a2", []Option{OnLeader()}, "c"},
		{"c3 b1 a2", []Option{OnOldest()}, "b"},
		{"c3 b1 a2", []Option{OnNode("a")}, "a"},
		{"c3 b1 a2", []Option{OnNode("x")}, ""},
		{"c3 a2 b1*", []Option{OnOldest()}, "a"},
		{"c3 a2 b", []Option{OnOldest()}, "a"},
		{"c1 b1 a2", []Option{OnOldest()}, "b"}, // twins: the lower address
		{"c3 b1 a2*", []Option{OnNode("a")}, ""},
		{"c3 b1- a2", []Option{OnOldest()}, "a"},
		{"c3- b1 a2", []Option{OnLeader()}, "b"},
		{"c3 b1 a2-", []Option{OnNode("a")}, ""},
		{"c3 b1/x a2/x", []Option{Role("x")}, "b"},
		{"c3 b2/x a1/x,y", []Option{OnOldest(), Role("x")}, "a"},
		{"c3 b2/x a1/x,y", []Option{Role("z"), OnOldest()}, ""},
		{"", []Option{OnOldest()}, ""},
		{"c3 b1 a2", []Option{OnElected("last", last)}, "a"},
		{"c3 b1 a2*", []Option{OnElected("last", last)}, "b"},
		{"c3/x b1 a2", []Option{OnElected("last", last), Role("x")}, "c"},
		{"c3 b1 a2-", []Option{OnElected("last", last)}, "b"},
		{"c3", []Option{OnElected("nobody", func([]Peer) (string, bool) { return "c", false })}, ""},
		{"c3", []Option{OnElected("stranger", func([]Peer) (string, bool) { return "x", true })}, ""},
		{"c3", []Option{OnElected("panics", func([]Peer) (string, bool) { panic("oh") })}, ""},
		{"", []Option{OnElected("last", last)}, ""},
	} {
		set := newSettings(c.opts)
		h, ok := peers(c.members).host(&set, node.ID{}, node.ID{})
		require.Equal(t, c.host, h.Name, "%s: %s", c.members, set.placement())
		require.Equal(t, c.host != "", ok)
	}
}

func TestWhoIsAboutToHaveAManagerCountsAsOneThatHas(t *testing.T) {
	topo := peers("c3 b1- a2")
	set := newSettings([]Option{OnOldest()})
	h, _ := topo.host(&set, node.ID{Address: "b", Incarnation: 1}, node.ID{})
	require.Equal(t, "b", h.Name)
	h, _ = topo.host(&set, node.ID{}, node.ID{Address: "a", Incarnation: 1})
	require.Equal(t, "c", h.Name, "who is drained does not count")
}

func TestAnchorsThatContradictEachOtherPanic(t *testing.T) {
	for want, opts := range map[string][]Option{
		`singleton: OnOldest() and OnNode("a") contradict each other; give one of them`:                                            {OnOldest(), OnNode("a")},
		`singleton: OnLeader() and OnOldest() contradict each other; give one of them`:                                             {OnLeader(), OnOldest()},
		`singleton: OnNode("a") and OnNode("b") contradict each other; give one of them`:                                           {OnNode("a"), OnNode("b")},
		`singleton: OnNode("a") and Role("x") contradict each other; a node that is named needs no role, so leave one of them out`: {Role("x"), OnNode("a")},
	} {
		require.PanicsWithValue(t, want, func() { newSettings(opts) })
	}
	require.PanicsWithValue(t, "singleton: OnElected needs a name and a function", func() { OnElected("", last) })
	require.PanicsWithValue(t, `singleton: OnNode(""): name the node by its cluster.Config.NodeID, or leave the option out`, func() { OnNode("") })
}

func TestTheSignatureThatCountsIsThatOfTheOldestThatIsUp(t *testing.T) {
	says := func(topo *Topology, name, signature string) {
		for i, p := range topo.Members {
			if p.Name == name {
				topo.Members[i].offered = offer("one", signature)
			}
		}
	}
	for _, c := range []struct{ members, self, own, want, whose string }{
		{"c3 b1 a2", "c", "role=x", "role=x", "c"}, // of the others nothing is known
		{"c3 b1=y a2", "c", "role=x", "y", "b"},
		{"c3 b1*=y a2", "c", "role=x", "role=x", "c"},
		{"c3=y b1- a2", "b", "role=x", "role=x", "b"}, // not shown yet, but it will be
		{"c=z b3=y a2*", "a", "", "y", "b"},
		{"c=z b*=y a-", "a", "", "z", "c"},
	} {
		var words []string
		signatures := map[string]string{}
		for word := range strings.FieldsSeq(c.members) {
			member, signature, _ := strings.Cut(word, "=")
			words = append(words, member)
			signatures[member[:1]] = signature
		}
		topo := peers(strings.Join(words, " "))
		for name, signature := range signatures {
			if signature != "" {
				says(&topo, name, signature)
			}
		}
		topo.Self = node.ID{Address: c.self, Incarnation: 1}
		signature, whose, known := topo.reference(c.own)
		require.True(t, known)
		require.Equal(t, c.want, signature, c.members)
		require.Equal(t, c.whose, whose.Name, c.members)
	}
}

func TestOffersSayWhatMustBeTheSame(t *testing.T) {
	set := newSettings([]Option{Role("worker"), OnOldest(), StopMessage(7), Buffer(3)})
	signature := signatureOf(set.traits(reflect.TypeFor[wireGrant]()))
	require.Equal(t, "message=understudy.singleton.grant#role=worker#anchor=oldest#stop message=int", signature)
	text := offer("jobs/nightly", signature)
	require.Equal(t, "jobs/nightly", offerName(text))
	require.Equal(t, "jobs", offerName("jobs"))
	got, offers := Peer{offered: text}.offer()
	require.True(t, offers)
	require.Equal(t, signature, got)
	got, offers = Peer{offered: "jobs"}.offer()
	require.True(t, offers)
	require.Empty(t, got)
	_, offers = Peer{}.offer()
	require.False(t, offers)

	plain := newSettings(nil)
	require.Equal(t, `role is "worker" here and "" there, anchor is "oldest" here and "" there, stop message is "int" here and "" there`,
		differences(signature, signatureOf(plain.traits(reflect.TypeFor[wireGrant]()))))
}

func TestSignaturesAreBoundedAndStillTellApart(t *testing.T) {
	long := strings.Repeat("é", 100)
	sign := func(role string) string {
		set := newSettings([]Option{Role(role)})
		return signatureOf(set.traits(reflect.TypeFor[string]()))
	}
	require.Less(t, len(sign(long)), 200)
	require.NotEqual(t, sign(long+"a"), sign(long+"b"))
	require.Contains(t, differences(sign(long+"a"), sign(long+"b")), "role is")
	require.NotContains(t, strings.TrimPrefix(sign("a#role=b"), "message=string#role="), "#")
}
