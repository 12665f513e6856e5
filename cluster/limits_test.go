package cluster

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

func TestANodeTakesItsLimitsOfTraffic(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.tune = func(c *Config) { c.Traffic = Traffic{MaxMessage: 8 << 20, CompressFrom: 1000, IdleAfter: time.Hour} }
		f.start("n1", "n2")
		f.await(5*time.Second, "n1", "n2")
		got := make(chan int, 1)
		to := actor.Spawn(f.nodes["n2"], func(_ *actor.Context[string], next *actor.Next[string]) {
			next.OnMessage = func(_ *actor.Context[string], s string) actor.Behavior[string] {
				got <- len(s)
				return nil
			}
		}, "sink")
		actor.Resolve[string](f.nodes["n1"].System, to.Path()).Tell(strings.Repeat("x", 6<<20))
		require.Equal(t, 6<<20, <-got)
		require.Equal(t, 8<<20, extension.MaxMessage(f.nodes["n1"].System))
	})
}

func TestLimitsOfTrafficThatMakeNoSenseAreRefused(t *testing.T) {
	for want, traffic := range map[string]Traffic{
		"Config.Traffic.OutboxSize is negative":    {OutboxSize: -1},
		"Config.Traffic.IdleAfter is negative":     {IdleAfter: -1},
		"Config.Traffic.MaxMessage is 1000; it ca": {MaxMessage: 1000},
	} {
		_, err := Start(t.Context(), Config{Traffic: traffic})
		require.ErrorContains(t, err, "cluster: "+want)
		_, err = Dial(t.Context(), ClientConfig{Contacts: []string{"a:1"}, Traffic: traffic})
		require.ErrorContains(t, err, "Client"+want)
	}
}

// Regression: a web server as a seed gave "malformed frame" until the context ended.
func TestASeedThatIsNoNodeIsNamedAtOnce(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"))
			_ = conn.Close()
		}
	}()
	_, err = Start(t.Context(), Config{Seeds: []string{listener.Addr().String(), "127.0.0.1:1"}})
	var refusal *RefusedError
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, listener.Addr().String(), refusal.Address)
	require.ErrorContains(t, err, "is no node of Understudy: it speaks HTTP; give the address of a node")
	require.NoError(t, listener.Close())
	<-done
}
