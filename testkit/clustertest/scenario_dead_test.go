//go:build !quick

package clustertest_test

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/remote"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A narrow network opens no new streams to or from a host while it is shut. Open streams stay, such
// as the channels between members, which are opened once. Memberlist opens a stream for each probe
// and each exchange, so it has none.
type narrow struct {
	remote.Network
	host string
	shut *atomic.Bool
}

func (n narrow) Dial(ctx context.Context, addr string) (net.Conn, error) {
	if n.shut.Load() && (n.host == "n3" || strings.HasPrefix(addr, "n3:")) {
		<-ctx.Done() // nobody answers
		return nil, ctx.Err()
	}
	return n.Network.Dial(ctx, addr)
}

// memberlist believes that a healthy node is dead, logs that, and forgets the
// node. No member notices. Afterwards gossip includes the node again within seven seconds. The same
// holds with a secret, which encrypts datagrams.
func TestANodeThatMemberlistHasBuriedIsAMemberAllTheTime(t *testing.T) {
	for name, protect := range map[string]clustertest.Option{
		"without a secret": func(string, *cluster.Config) {},
		"with a secret":    withSecret(goodSecret),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core, logs := observer.New(zapcore.DebugLevel)
				shut := &atomic.Bool{}
				c := clustertest.Start(t, 3, protect, func(name string, cfg *cluster.Config) {
					cfg.Network = narrow{cfg.Network, name, shut}
					cfg.Logger = zap.New(core).Named(name)
				})
				count := func(what string) int {
					return logs.Filter(func(e observer.LoggedEntry) bool { return strings.Contains(e.Message, what) }).Len()
				}
				untouched(t, c, func() {
					time.Sleep(time.Minute)
					require.Zero(t, count("Marking"), "memberlist is content")
					shut.Store(true)
					for _, other := range []string{"n1", "n2"} { // no datagrams either: there is one heartbeat left, by stream
						c.LoseBetween("n3", other, 1)
						c.LoseBetween(other, "n3", 1)
					}
					time.Sleep(2 * time.Minute) // GossipToTheDead is 30 s
					require.Positive(t, count("Marking n3:7355#"), "memberlist has given n3 up")
					require.Positive(t, count("gossip not connected"), "and it is being tried again")

					exchanged := count("Initiating push/pull sync with: n3:7355")
					shut.Store(false)
					for _, other := range []string{"n1", "n2"} {
						c.LoseBetween("n3", other, 0)
						c.LoseBetween(other, "n3", 0)
					}
					time.Sleep(7 * time.Second)
					require.Greater(t, count("Initiating push/pull sync with: n3:7355"), exchanged)
					before := count("gossip not connected") + count("Marking")
					time.Sleep(2 * time.Minute)
					require.Equal(t, before, count("gossip not connected")+count("Marking"), "gossip is whole again")
				})
			})
		})
	}
}
