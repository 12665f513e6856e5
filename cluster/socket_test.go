package cluster

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The test uses the sockets of the operating system, in real time.
func TestNodesOnLoopbackFormAClusterAndLeaveIt(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	seed := freeAddress(t)
	_, port, err := net.SplitHostPort(seed)
	require.NoError(t, err)
	seeds := []string{"localhost:" + port} // the first node under another name
	n1, err := Start(ctx, Config{Name: "sockets", NodeID: "n1", Bind: seed, Seeds: seeds, Logger: logger(t)})
	require.NoError(t, err)
	n2, err := Start(ctx, Config{Name: "sockets", Seeds: seeds, Logger: logger(t)})
	require.NoError(t, err)
	require.Equal(t, n2.Address(), n2.View().Self.Name, "which is the default")
	for v := range n1.Views(ctx) {
		if m, ok := v.Member(n2.Address()); ok && m.Status == Up && v.Converged {
			break
		}
	}
	require.NoError(t, n1.Leave(ctx))
	for v := range n2.Views(ctx) {
		if leader, ok := v.Leader(); ok && leader.ID() == v.Self.ID() {
			break
		}
	}
	require.NoError(t, n2.Leave(ctx))
	_, err = net.DialTimeout("tcp", n2.Address(), time.Second)
	require.Error(t, err, "the port is closed")
}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}
