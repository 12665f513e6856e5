package transport

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/understudy-go/understudy/remote"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/protocol"
)

func newOpeners() *openers {
	return &openers{versions: protocol.UpTo(Version), byNumber: map[uint64]*opener{}, byAddr: map[string][]*opener{}}
}

func controlLane(addr string, incarnation uint64) *inbound {
	return &inbound{key: linkKey{addr, channelControl}, from: remote.NodeID{Address: addr, Incarnation: incarnation}, done: make(chan struct{})}
}

// granted returns a sealer with a key of o.
func granted(t testing.TB, o *openers, in *inbound) *sealer {
	t.Helper()
	grant, err := o.grant(in)
	require.NoError(t, err)
	s, err := newSealer(remote.NodeID{Address: "b:1", Incarnation: 9}, Version, grant)
	require.NoError(t, err)
	return s
}

func TestSealedPacketSaysWhoSentItAndNothingElse(t *testing.T) {
	o := newOpeners()
	s := granted(t, o, controlLane("a:1", 7))
	b := s.seal(packetUser, []byte("beat"))
	require.Len(t, b, sealedHeader+len("beat")+sealOverhead)
	require.NotContains(t, string(b), "beat")
	require.NotContains(t, string(b), "a:1")
	from, data, err := o.open(b)
	require.NoError(t, err)
	require.Equal(t, remote.NodeID{Address: "a:1", Incarnation: 7}, from)
	require.Equal(t, "beat", string(data))
}

func TestSameDataIsNeverSealedTheSame(t *testing.T) {
	s := granted(t, newOpeners(), controlLane("a:1", 7))
	seen := map[string]bool{}
	for range 100 {
		seen[string(s.seal(packetUser, []byte("beat"))[sealedHeader:])] = true
	}
	require.Len(t, seen, 100)
}

func TestLastTwoKeysOfAnIncarnationAreGood(t *testing.T) {
	o := newOpeners()
	var all []*sealer
	for range 3 {
		all = append(all, granted(t, o, controlLane("a:1", 7)))
	}
	good := func(s *sealer) bool {
		_, _, err := o.open(s.seal(packetUser, nil))
		return err == nil
	}
	require.False(t, good(all[0]))
	require.True(t, good(all[1]))
	require.True(t, good(all[2]))
	next := granted(t, o, controlLane("a:1", 8))
	require.False(t, good(all[2]), "another incarnation has come")
	require.True(t, good(next))
	require.Len(t, o.byNumber, 1)
	o.drop(func(p remote.NodeID) bool { return p == remote.NodeID{Address: "a:1", Incarnation: 8} })
	require.False(t, good(next))
	require.Empty(t, o.byNumber)
	require.Empty(t, o.byAddr)
}

func TestKeysOfPeersThatAreLongGoneAreForgotten(t *testing.T) {
	o := newOpeners()
	in := controlLane("a:1", 7)
	granted(t, o, in)
	granted(t, o, controlLane("b:1", 7))
	require.Len(t, o.byNumber, 2)
	in.ended = time.Now().Add(-sessionMemory - time.Second)
	close(in.done)
	granted(t, o, controlLane("c:1", 7))
	require.Len(t, o.byNumber, 2)
	require.NotContains(t, o.byAddr, "a:1")
}

func TestGrantOfAnotherSizeIsMalformed(t *testing.T) {
	for _, size := range []int{0, grantSize - 1, grantSize + 1} {
		_, err := newSealer(remote.NodeID{}, Version, make([]byte, size))
		require.ErrorIs(t, err, remote.ErrFrame)
	}
}

// model is what a window should do, with a memory without bounds.
type model struct {
	last uint64
	seen map[uint64]bool
}

func (m *model) accept(n uint64) bool {
	if n == 0 || m.seen[n] || n+windowSize <= m.last {
		return false
	}
	m.seen[n] = true
	m.last = max(m.last, n)
	return true
}

func TestWindowAcceptsEachNumberOnceUnlessItIsTooOld(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var w window
		m := model{seen: map[uint64]bool{}}
		var at uint64
		for range 500 {
			switch random.IntN(10) {
			case 0:
				at += random.Uint64N(3 * windowSize)
			case 1:
				at++
			}
			n := at - min(at, random.Uint64N(2*windowSize))
			if random.IntN(2) == 0 {
				n = at + random.Uint64N(4)
			}
			require.Equal(t, m.accept(n), w.accept(n), n)
		}
	}
}

func FuzzSealedPacket(f *testing.F) {
	o := newOpeners()
	s := granted(f, o, controlLane("a:1", 7))
	good := string(s.seal(packetUser, []byte("beat")))
	f.Add([]byte(good))
	f.Add([]byte(good)[:sealedHeader])
	f.Add([]byte{packetGossip, packetSealed | Version})
	f.Fuzz(func(t *testing.T, b []byte) {
		before := string(b)
		_, data, err := o.open(b)
		if err != nil {
			require.ErrorIs(t, err, remote.ErrFrame)
			return
		}
		require.Equal(t, good, before, "nobody else has the key")
		require.Equal(t, "beat", string(data))
	})
}

func BenchmarkSealedPacket(b *testing.B) {
	o := newOpeners()
	s := granted(b, o, controlLane("a:1", 7))
	ping := make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := o.open(s.seal(packetUser, ping)); err != nil {
			b.Fatal(err)
		}
	}
}
