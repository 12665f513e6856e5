package cluster

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/remote"
)

var goodSecret = []byte("Wn1Pq0yT6kXw2uJf4cE8bR5mZs7vA3dL")

func TestANodeThatIsNotTrustedIsRefusedSoonAndDisturbsNobody(t *testing.T) {
	for name, c := range map[string]struct {
		members, stranger Config
		want              string
	}{
		"another secret":       {Config{Secret: goodSecret}, Config{Secret: []byte("another secret of any length")}, "its secret is not in this node's keyring"},
		"no secret":            {Config{Secret: goodSecret}, Config{}, "TLS is required"},
		"secret where none is": {Config{}, Config{Secret: goodSecret}, "it does not speak TLS"},
		"accepted by one side": {
			Config{Secret: goodSecret},
			Config{Secret: []byte("another secret of any length"), OldSecrets: [][]byte{goodSecret}},
			"it does not accept the certificate or secret of this node",
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *testCluster) {
				f.tune = func(cfg *Config) { cfg.Secret = c.members.Secret }
				f.start("n1", "n2", "n3", "n4", "n5")
				f.await(10*time.Second, "n1", "n2", "n3", "n4", "n5")
				version := f.nodes["n1"].View().Version
				f.tune = func(cfg *Config) { cfg.Secret, cfg.OldSecrets = c.stranger.Secret, c.stranger.OldSecrets }
				cfg := f.config("n6")
				begin := time.Now()
				_, err := Start(t.Context(), cfg)
				require.Less(t, time.Since(begin), 5*time.Second)
				var refused *RefusedError
				require.ErrorAs(t, err, &refused)
				require.ErrorContains(t, err, c.want)
				time.Sleep(long(time.Minute))
				require.Equal(t, version, f.nodes["n1"].View().Version, "nothing has happened")
			})
		})
	}
}

func TestAnActorHearsNothingOfARemovedIncarnation(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.tune = func(cfg *Config) { cfg.Secret = goodSecret }
		f.start("n1", "n2", "n3")
		f.await(10*time.Second, "n1", "n2", "n3")
		heard := make(chan int, 10)
		actor.Spawn(f.nodes["n1"], func(_ *actor.Context[int], next *actor.Next[int]) {
			next.OnMessage = func(_ *actor.Context[int], n int) actor.Behavior[int] {
				heard <- n
				return nil
			}
		}, "inbox")
		zombie := zombieOf(t, f, "n3")
		f.crash("n3")
		f.await(20*time.Second, "n1", "n2")

		lost := zombie.start()
		inbox := actor.Resolve[int](zombie.sys, "understudy://test@"+address("n1")+"/user/inbox")
		inbox.Tell(1)
		time.Sleep(10 * time.Second)
		require.Empty(t, heard)
		letter := <-lost
		require.Equal(t, 1, letter.Message)
		var refused *remote.RefusedError
		require.ErrorAs(t, letter.Reason, &refused)
		require.Equal(t, remote.RefusedMember, refused.Refusal)
		require.Equal(t, "removed from the cluster", refused.Detail)

		zombie.endpoint.SendControl(address("n1"), wireMessage(t, kindHeartbeat, zombie.self.Incarnation, wireHeartbeat{Cluster: zombie.cluster}))
		time.Sleep(time.Second)
		require.True(t, slices.Contains(zombie.control(), kindDown), "it is told what has become of it")
	})
}

// A zombie is an endpoint with the identity of a crashed node that still sends.
type zombie struct {
	t        *testing.T
	f        *testCluster
	self     remote.NodeID
	cluster  [16]byte
	endpoint *transport.Endpoint
	sys      *actor.System
	said     chan byte // kinds of messages
}

func zombieOf(t *testing.T, f *testCluster, name string) *zombie {
	t.Helper()
	n := f.nodes[name]
	var whole wirePush
	wireBody(t, n.wholeTable(), &whole)
	return &zombie{t: t, f: f, self: n.View().Self.ID(), cluster: whole.Table.Cluster, said: make(chan byte, 100)}
}

// start opens the endpoint and returns its dead letters.
func (z *zombie) start() <-chan actor.DeadLetter {
	z.t.Helper()
	ring, err := remote.NewKeyring(goodSecret)
	require.NoError(z.t, err)
	z.endpoint, err = transport.Listen(transport.Config{
		Cluster:     "test",
		Incarnation: z.self.Incarnation,
		Bind:        z.self.Address,
		Network:     z.f.net.Host("n3"),
		Keyring:     ring,
		Control: func(_ remote.NodeID, data []byte) {
			z.said <- data[1]
		},
	})
	require.NoError(z.t, err)
	z.sys = actor.NewSystem("test", extension.WithTransport(z.endpoint.Addr(), z.endpoint))
	lost := make(chan actor.DeadLetter, 10)
	actor.Subscribe(z.sys, actor.Spawn(z.sys, func(_ *actor.Context[actor.DeadLetter], next *actor.Next[actor.DeadLetter]) {
		next.OnMessage = func(_ *actor.Context[actor.DeadLetter], l actor.DeadLetter) actor.Behavior[actor.DeadLetter] {
			lost <- l
			return nil
		}
	}, "lost"))
	z.endpoint.Serve(z.sys)
	z.t.Cleanup(func() {
		require.NoError(z.t, z.endpoint.Close())
		require.NoError(z.t, z.sys.Shutdown(context.Background()))
	})
	return lost
}

// control returns the kinds of the control messages that it receives.
func (z *zombie) control() (all []byte) {
	for len(z.said) > 0 {
		all = append(all, <-z.said)
	}
	return all
}

// Anyone who can write to the port of a cluster without a secret can make memberlist believe for
// ever that a node is dead: incarnation MaxUint32 overflows when the node refutes it.
func TestAForgedSuspicionEvictsNobody(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		core, logs := observer.New(zapcore.DebugLevel)
		f.tune = func(cfg *Config) { cfg.Logger = zap.New(core) }
		f.start("n1", "n2", "n3")
		f.await(10*time.Second, "n1", "n2", "n3")
		before := f.nodes["n1"].View()
		victim, _ := before.Member("n2")
		forgery := forgedSuspicion("test", gossipName(victim.Address, victim.Incarnation))
		thief, err := f.net.Host("thief").ListenPacket("thief:1")
		require.NoError(t, err)
		for range 10 {
			for _, to := range []string{"n1", "n2", "n3"} {
				_, err := thief.WriteTo(forgery, hostAddr(address(to)))
				require.NoError(t, err)
			}
			time.Sleep(10 * time.Second)
		}
		require.NoError(t, thief.Close())
		fallen := logs.Filter(func(e observer.LoggedEntry) bool { return strings.Contains(e.Message, "Marking n2:7355#") })
		require.NotZero(t, fallen.Len(), "memberlist has fallen for it")
		after := f.nodes["n1"].View()
		require.Equal(t, before.Version, after.Version, "and nobody has seen anything of that")
		require.Equal(t, before.Members, after.Members)
		require.Empty(t, after.Unreachable())
	})
}

// forgedSuspicion returns a datagram of memberlist's protocol that suspects a node in its last
// possible incarnation.
func forgedSuspicion(label, name string) []byte {
	const suspectMsg, labelMsg = 3, 244
	text := func(s string) []byte { return append([]byte{0xd9, byte(len(s))}, s...) }
	return slices.Concat(
		[]byte{'M', labelMsg, byte(len(label))}, []byte(label),
		[]byte{suspectMsg, 0x83},
		text("Incarnation"), []byte{0xce, 0xff, 0xff, 0xff, 0xff},
		text("Node"), text(name),
		text("From"), text("thief"),
	)
}

// hostAddr is a host:port as a [net.Addr].
type hostAddr string

func (a hostAddr) Network() string { return "udp" }
func (a hostAddr) String() string  { return string(a) }
