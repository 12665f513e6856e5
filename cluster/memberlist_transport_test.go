package cluster

import (
	"fmt"
	"strings"
	"testing"

	"github.com/understudy-go/understudy/remote"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/membership"
)

func TestANodeDoesNotStartWithWhatOthersWouldRefuse(t *testing.T) {
	entries := map[string]string{}
	for i := range 101 {
		entries[fmt.Sprint(i)] = ""
	}
	for want, c := range map[string]Config{
		"name of":     {NodeID: strings.Repeat("x", 4<<10+1)},
		"101 roles":   {Roles: make([]string, 101)},
		"101 entries": {Meta: entries},
	} {
		require.ErrorContains(t, c.withDefaults().validate(), want)
	}
}

func TestNamesInGossipAreThoseOfIncarnations(t *testing.T) {
	address, incarnation, ok := parseGossipName(gossipName("n1:7355", 0xabc))
	require.True(t, ok)
	require.Equal(t, remote.NodeID{Address: "n1:7355", Incarnation: 0xabc}, remote.NodeID{Address: address, Incarnation: incarnation})
	for _, name := range []string{
		"", "n1", "#1", "n1:1#", "n1:1#0", "n1:1#x", "n1:1#01", "n1:1#AB", "n1:1#1#2", "n1:1#-1", "n1:1#10000000000000000",
		strings.Repeat("n", 256) + "#1",
	} {
		_, _, ok := parseGossipName(name)
		require.False(t, ok, name)
	}
}

func FuzzGossipName(f *testing.F) {
	f.Add(gossipName("n1:7355", 1))
	f.Add("n1:1#0#1")
	f.Fuzz(func(t *testing.T, name string) {
		if address, incarnation, ok := parseGossipName(name); ok {
			require.NoError(t, membership.CheckID(remote.NodeID{Address: address, Incarnation: incarnation}))
			require.Equal(t, name, gossipName(address, incarnation))
		}
	})
}
