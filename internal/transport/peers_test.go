package transport

import (
	"fmt"
	"testing"

	"github.com/understudy-go/understudy/remote"

	"github.com/stretchr/testify/require"
)

func TestTooManyPeersCostOneAnotherAtATime(t *testing.T) {
	var p metPeers
	id := func(i int) remote.NodeID { return remote.NodeID{Address: fmt.Sprintf("n%d:1", i), Incarnation: 1} }
	for i := range maxPeers {
		p.keep(id(i), agreement{version: 1})
	}
	for i := range 10 {
		p.keep(id(i), agreement{version: 2})
	}
	require.Len(t, p.byAddr, maxPeers, "news of a known peer cost no other")
	for i := range 3 {
		p.keep(id(maxPeers+i), agreement{version: 1})
		require.Len(t, p.byAddr, maxPeers)
		require.Contains(t, p.byAddr, id(maxPeers+i).Address)
	}
}

func TestClientsAreNoPeers(t *testing.T) {
	var p metPeers
	for range 10 {
		p.keep(remote.NodeID{Address: outboundAddr(), Incarnation: 1}, agreement{version: 1})
	}
	require.Empty(t, p.byAddr)
}

func TestAForgottenPeerIsNotKnown(t *testing.T) {
	var p metPeers
	old, next := remote.NodeID{Address: "a:1", Incarnation: 1}, remote.NodeID{Address: "a:1", Incarnation: 2}
	p.keep(next, agreement{version: 1})
	p.forget(old)
	require.Contains(t, p.byAddr, "a:1", "another incarnation is known")
	p.forget(next)
	require.Empty(t, p.byAddr)
}
