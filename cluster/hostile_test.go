package cluster

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/remote"
)

// unmoved runs f, and requires that no view of a node changes during f or soon after.
func (f *testCluster) unmoved(do func()) {
	f.t.Helper()
	versions := func() map[string]uint64 {
		all := map[string]uint64{}
		for name, n := range f.nodes {
			all[name] = n.View().Version
		}
		return all
	}
	before := versions()
	do()
	time.Sleep(10 * time.Second)
	require.Equal(f.t, before, versions(), "a view has changed")
}

// A node that does not fit is refused within a second and does not disturb the others.
// Only a taken name is refused later, because it may belong to an earlier incarnation of the node
// itself.
func TestWhoDoesNotFitIsRefusedInASecondAndDisturbsNobody(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*Config)
		want  string
	}{
		"another cluster":      {func(c *Config) { c.Name = "other" }, "wrong cluster"},
		"another downing":      {func(c *Config) { c.Downing = downing.DownAll{} }, "the node has downing down-all"},
		"another parameter":    {func(c *Config) { c.Downing = downing.KeepMajority{StableAfter: time.Minute} }, "first restart all nodes with a downing.Transition"},
		"another election":     {func(c *Config) { c.Leader = LowestAddress() }, "this cluster has"},
		"a far transition":     {func(c *Config) { c.Downing = downing.Transition{From: downing.DownAll{}, To: downing.Manual{}} }, "the node has downing down-all"},
		"a name that is taken": {func(c *Config) { c.NodeID = "n2" }, `named "n2" already`},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *testCluster) {
				f.start("n1", "n2", "n3")
				f.await(3*time.Second, "n1", "n2", "n3")
				f.unmoved(func() {
					cfg := f.config("n4")
					cfg.Seeds = cfg.Seeds[:3]
					c.spoil(&cfg)
					begin := time.Now()
					_, err := Start(t.Context(), cfg)
					limit := time.Second
					if cfg.NodeID == "n2" {
						limit += 3 * time.Second // namePatience of package membership
					}
					require.LessOrEqual(t, time.Since(begin), limit)
					require.ErrorAs(t, err, new(*RefusedError))
					require.ErrorContains(t, err, c.want)
				})
			})
		})
	}
}

// helloOf is the hello of a node that speaks versions up to remote of the protocol of package
// remote, and up to cluster of the protocol of package membership.
func helloOf(remote, cluster int, addr string) map[int]any {
	return map[int]any{1: max(1, remote-1), 2: remote, 4: max(1, cluster-1), 5: cluster, 7: "test", 8: addr, 9: 77, 10: 0, 11: 1}
}

// A program of another protocol version is refused in the same way. No such program exists yet, so
// the test writes its first bytes itself.
func TestAnotherVersionIsRefusedWithItsNumberAndDisturbsNobody(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		f.unmoved(func() {
			for of, hello := range map[string]map[int]any{"remote": helloOf(3, 1, "n4:7355"), "cluster": helloOf(1, 3, "n4:7355")} {
				begin := time.Now()
				s := intrude(t, f)
				answer := s.hello(hello)
				require.Equal(t, int64(remote.RefusedVersion), answer[10])
				require.Equal(t, "n1:7355 speaks version 1 of the "+of+" protocol, n4:7355 speaks versions 2 to 3, and they have none in common; "+
					"upgrade n1:7355 to a release that speaks version 2", answer[11])
				s.requireClosed()
				require.LessOrEqual(t, time.Since(begin), time.Second)
			}
			next := intrude(t, f)
			answer := next.hello(helloOf(2, 2, "n4:7355"))
			require.Equal(t, int64(0), answer[10], "a node of the next version is accepted")
			require.Equal(t, []any{int64(1), int64(1)}, []any{answer[7], answer[8]}, "and this one's versions are spoken")
		})
	})
}

// An intruder is a connection to a node on which the test writes the protocol byte by byte.
type intruder struct {
	net.Conn
	t *testing.T
}

func intrude(t *testing.T, f *testCluster) *intruder {
	t.Helper()
	conn, err := f.net.Host("intruder").Dial(t.Context(), address("n1"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &intruder{conn, t}
}

// say writes bytes. It ignores errors, because the node may have closed the connection.
func (i *intruder) say(data ...byte) { _, _ = i.Write(data) }

// frame writes data with its length in front.
func (i *intruder) frame(data []byte) {
	i.say(append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...)...)
}

func (i *intruder) open(lane byte) {
	i.say(append([]byte("\x16\x03\x01\xff\xffunderstudy\r\n\r\n"), lane)...)
}

// hello opens a control channel and returns the answer.
func (i *intruder) hello(hello map[int]any) (answer map[int]any) {
	i.t.Helper()
	for key, value := range hello {
		if n, is := value.(int); is {
			hello[key] = int64(n) // an int in an interface has no type on the wire
		}
	}
	data, err := codec.Marshal(hello)
	require.NoError(i.t, err)
	i.open('C')
	i.frame(data)
	header := make([]byte, 4)
	_, err = io.ReadFull(i, header)
	require.NoError(i.t, err)
	body := make([]byte, binary.BigEndian.Uint32(header))
	_, err = io.ReadFull(i, body)
	require.NoError(i.t, err)
	require.NoError(i.t, codec.Unmarshal(body, &answer))
	return answer
}

func (i *intruder) requireClosed() {
	i.t.Helper()
	require.NoError(i.t, i.SetReadDeadline(time.Now().Add(5*time.Second)))
	_, err := io.Copy(io.Discard, i)
	var late net.Error
	require.False(i.t, errors.As(err, &late) && late.Timeout(), "the connection is still open")
}

// Forged and garbled frames are logged, close their connection, and change nothing.
func TestGarbledFramesCloseTheirConnectionAndChangeNothing(t *testing.T) {
	good := func() map[int]any { return helloOf(1, 1, "intruder:7355") }
	for name, speak := range map[string]func(i *intruder){
		"another protocol": func(i *intruder) { i.say([]byte("GET / HTTP/1.1\r\n\r\n")...) },
		"too large hello":  func(i *intruder) { i.open('C'); i.say(0xff, 0xff, 0xff, 0xff) },
		"hello of noise":   func(i *intruder) { i.open('C'); i.frame([]byte("noise")) },
		"too large frame":  func(i *intruder) { i.hello(good()); i.say(0xff, 0xff, 0xff, 0xff) },
		"wrong uid": func(i *intruder) {
			hello := good()
			hello[10] = 4 // the node it asks for
			require.Equal(i.t, int64(remote.RefusedIncarnation), i.hello(hello)[10])
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *testCluster) {
				core, logs := observer.New(zapcore.WarnLevel)
				f.tune = func(cfg *Config) { cfg.Logger = zap.New(core) }
				f.start("n1", "n2", "n3")
				f.await(3*time.Second, "n1", "n2", "n3")
				logs.TakeAll()
				f.unmoved(func() {
					i := intrude(t, f)
					speak(i)
					i.requireClosed()
				})
				require.Equal(t, 1, logs.FilterMessage("connection closed").Len())
			})
		})
	}
}

// An impostor is an endpoint that claims to be the given incarnation.
func impostor(t *testing.T, f *testCluster, name string, as remote.NodeID) *transport.Endpoint {
	t.Helper()
	e, err := transport.Listen(transport.Config{
		Cluster: "test", Incarnation: as.Incarnation, Bind: name + ":7355", Advertise: as.Address, Network: f.net.Host(name),
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// Without a secret anyone can send as a member. Even then a node does not take an old
// message for a new one, and drops messages that are malformed or too large.
func TestAnOldTableThatIsReplayedChangesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n2", "n3", "n4")
		f.await(3*time.Second, "n1", "n2", "n3", "n4")
		n1, n2 := f.nodes["n1"], f.nodes["n2"]
		old := slices.Clone(n2.wholeTable())
		removed := f.nodes["n4"].View().Self.ID()
		require.NoError(t, f.nodes["n4"].Leave(t.Context()))
		delete(f.nodes, "n4")
		f.await(time.Second, "n1", "n2", "n3")
		time.Sleep(time.Minute)

		oversize := wirePush{From: n2.View().Self.ID(), Whole: true, Table: wireTable{Members: make([]membership.Member, membership.MaxMembers+1)}}
		for name, as := range map[string]remote.NodeID{"member": n2.View().Self.ID(), "removed": removed, "stranger": {Address: "stranger:7355", Incarnation: 5}} {
			f.unmoved(func() {
				e := impostor(t, f, name, as)
				for _, data := range [][]byte{
					old,
					old[:len(old)/2],
					wireMessage(t, kindPush, as.Incarnation, oversize),
					[]byte("noise"),
				} {
					e.SendControl(address("n1"), data)
					e.SendPacket(address("n1"), data)
					time.Sleep(time.Second)
				}
				require.NoError(t, e.Close())
			})
			_, known := n1.View().Member("n4")
			require.False(t, known, "said by the %s", name)
		}
		f.await(0, "n1", "n2", "n3")
	})
}
