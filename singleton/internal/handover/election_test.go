package handover

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/remote"
)

// peers makes members in the order of election from words such as "b3*": the name, the up-number,
// and "*" for a member that is not up, or "-" for one without a manager. Roles follow "/".
func peers(words string) (t directory.Topology) {
	for word := range strings.FieldsSeq(words) {
		word, roles, _ := strings.Cut(word, "/")
		name := strings.TrimRight(word, "*-0123456789")
		p := directory.Peer{ID: remote.NodeID{Address: name, Incarnation: 1}, Name: name, Up: !strings.Contains(word, "*"), Reachable: true}
		_, _ = fmt.Sscanf(strings.TrimLeft(word[len(name):], "*-"), "%d", &p.UpNumber) // without a number it has none
		if roles != "" {
			p.Roles = strings.Split(roles, ",")
		}
		if !strings.Contains(word, "-") {
			p.Advertisement = "one"
		}
		t.Members = append(t.Members, p)
	}
	return t
}

// last elects the last of the candidates; it panics without candidates.
func last(candidates []directory.Peer) (string, bool) {
	return candidates[len(candidates)-1].Name, true
}

func TestTheAnchorChoosesAmongThoseThatMayHost(t *testing.T) {
	for _, c := range []struct {
		members string
		cfg     Config
		host    string
	}{
		{"c3 b1 a2", Config{}, "c"},
		{"c3 b1 a2", Config{Anchor: Anchor{Kind: ByElection}}, "c"},
		{"c3 b1 a2", Config{Anchor: Anchor{Kind: ByAge}}, "b"},
		{"c3 b1 a2", Config{Anchor: Anchor{Kind: ByName, Node: "a"}}, "a"},
		{"c3 b1 a2", Config{Anchor: Anchor{Kind: ByName, Node: "x"}}, ""},
		{"c3 a2 b1*", Config{Anchor: Anchor{Kind: ByAge}}, "a"},
		{"c3 a2 b", Config{Anchor: Anchor{Kind: ByAge}}, "a"},
		{"c1 b1 a2", Config{Anchor: Anchor{Kind: ByAge}}, "b"}, // twins: the lower address
		{"c3 b1 a2*", Config{Anchor: Anchor{Kind: ByName, Node: "a"}}, ""},
		{"c3 b1- a2", Config{Anchor: Anchor{Kind: ByAge}}, "a"},
		{"c3- b1 a2", Config{Anchor: Anchor{Kind: ByElection}}, "b"},
		{"c3 b1 a2-", Config{Anchor: Anchor{Kind: ByName, Node: "a"}}, ""},
		{"c3 b1/x a2/x", Config{Role: "x"}, "b"},
		{"c3 b2/x a1/x,y", Config{Anchor: Anchor{Kind: ByAge}, Role: "x"}, "a"},
		{"c3 b2/x a1/x,y", Config{Anchor: Anchor{Kind: ByAge}, Role: "z"}, ""},
		{"", Config{Anchor: Anchor{Kind: ByAge}}, ""},
		{"c3 b1 a2", Config{Anchor: Anchor{Kind: ByFunction, Node: "last", Elect: last}}, "a"},
		{"c3 b1 a2*", Config{Anchor: Anchor{Kind: ByFunction, Node: "last", Elect: last}}, "b"},
		{"c3/x b1 a2", Config{Anchor: Anchor{Kind: ByFunction, Node: "last", Elect: last}, Role: "x"}, "c"},
		{"c3 b1 a2-", Config{Anchor: Anchor{Kind: ByFunction, Node: "last", Elect: last}}, "b"},
		{"c3", Config{Anchor: Anchor{Kind: ByFunction, Node: "nobody", Elect: func([]directory.Peer) (string, bool) { return "c", false }}}, ""},
		{"c3", Config{Anchor: Anchor{Kind: ByFunction, Node: "stranger", Elect: func([]directory.Peer) (string, bool) { return "x", true }}}, ""},
		{"c3", Config{Anchor: Anchor{Kind: ByFunction, Node: "panics", Elect: func([]directory.Peer) (string, bool) { panic("oh") }}}, ""},
		{"", Config{Anchor: Anchor{Kind: ByFunction, Node: "last", Elect: last}}, ""},
	} {
		topo := peers(c.members)
		h, ok := Elect(&topo, &c.cfg, remote.NodeID{}, remote.NodeID{})
		require.Equal(t, c.host, h.Name, "%s: %s", c.members, c.cfg.Placement())
		require.Equal(t, c.host != "", ok)
	}
}

func TestANodeThatIsAboutToHaveAManagerCountsAsOneThatHas(t *testing.T) {
	topo := peers("c3 b1- a2")
	cfg := Config{Anchor: Anchor{Kind: ByAge}}
	h, _ := Elect(&topo, &cfg, remote.NodeID{Address: "b", Incarnation: 1}, remote.NodeID{})
	require.Equal(t, "b", h.Name)
	h, _ = Elect(&topo, &cfg, remote.NodeID{}, remote.NodeID{Address: "a", Incarnation: 1})
	require.Equal(t, "c", h.Name, "a drained node does not count")
}

func TestTheSignatureOfTheOldestThatIsUpCounts(t *testing.T) {
	says := func(topo *directory.Topology, name, signature string) {
		for i, p := range topo.Members {
			if p.Name == name {
				topo.Members[i].Advertisement = directory.Advertise("one", signature)
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
		topo.Self = remote.NodeID{Address: c.self, Incarnation: 1}
		signature, whose, known := reference(&topo, c.own)
		require.True(t, known)
		require.Equal(t, c.want, signature, c.members)
		require.Equal(t, c.whose, whose.Name, c.members)
	}
}

func TestAnAdvertisementHasANameAndASignature(t *testing.T) {
	text := directory.Advertise("jobs/nightly", "role=worker")
	require.Equal(t, "jobs/nightly", directory.AdvertisedName(text))
	require.Equal(t, "jobs", directory.AdvertisedName("jobs"))
	got, has := advertised(directory.Peer{Advertisement: text})
	require.True(t, has)
	require.Equal(t, "role=worker", got)
	got, has = advertised(directory.Peer{Advertisement: "jobs"})
	require.True(t, has)
	require.Empty(t, got)
	_, has = advertised(directory.Peer{})
	require.False(t, has)
}
