package transport

import (
	"errors"
	"net"
	"testing"

	"github.com/understudy-go/understudy/remote"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/internal/protocol"
)

func TestPacketHeaderTellsWhoSentIt(t *testing.T) {
	from := remote.NodeID{Address: "node-7.example.com:7355", Incarnation: 1 << 60}
	b := append(appendPacketHeader(nil, Version, clusterHash("blue"), from), "beat"...)
	require.Len(t, b, packetFixed+len(from.Address)+len("beat"))
	got, data, err := parsePacket(b, protocol.UpTo(Version), clusterHash("blue"))
	require.NoError(t, err)
	require.Equal(t, from, got)
	require.Equal(t, "beat", string(data))
}

func TestPacketsOfOthersAreDropped(t *testing.T) {
	good := appendPacketHeader(nil, Version, clusterHash("blue"), remote.NodeID{Address: "a:1", Incarnation: 1})
	otherVersion := append([]byte(nil), good...)
	otherVersion[1]++
	for name, b := range map[string][]byte{
		"empty":                  nil,
		"of another cluster":     appendPacketHeader(nil, Version, clusterHash("green"), remote.NodeID{Address: "a:1", Incarnation: 1}),
		"of another version":     otherVersion,
		"cut off":                good[:len(good)-1],
		"without an address":     appendPacketHeader(nil, Version, clusterHash("blue"), remote.NodeID{Address: "", Incarnation: 1}),
		"without an incarnation": appendPacketHeader(nil, Version, clusterHash("blue"), remote.NodeID{Address: "a:1", Incarnation: 0}),
	} {
		_, _, err := parsePacket(b, protocol.UpTo(Version), clusterHash("blue"))
		require.ErrorIs(t, err, remote.ErrFrame, name)
	}
}

func TestOnlyUnsealedPacketsOfTheClusterAreOfAnotherVersion(t *testing.T) {
	from := remote.NodeID{Address: "a:1", Incarnation: 1}
	for name, c := range map[string]struct {
		b    []byte
		want bool
	}{
		"of this cluster":    {appendPacketHeader(nil, Version+1, clusterHash("blue"), from), true},
		"of another cluster": {appendPacketHeader(nil, Version+1, clusterHash("green"), from), false},
		"sealed":             {appendPacketHeader(nil, packetSealed|Version, clusterHash("blue"), from), false},
	} {
		_, _, err := parsePacket(c.b, protocol.UpTo(Version), clusterHash("blue"))
		require.ErrorIs(t, err, remote.ErrFrame, name)
		_, is := errors.AsType[*packetVersionError](err)
		require.Equal(t, c.want, is, name)
	}
}

// Anyone can send such datagrams, with any source.
func TestDatagramsOfAnotherVersionCountAsOneKind(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	p := packets{localNode: &localNode{log: zap.New(core), cfg: Config{versions: protocol.UpTo(Version)}}, cluster: clusterHash("blue")}
	for i := range 300 {
		version := byte(Version + 1 + i%100)
		p.receive(&net.UDPAddr{Port: i}, appendPacketHeader(nil, version, p.cluster, remote.NodeID{Address: "a:1", Incarnation: 1}))
	}
	require.Equal(t, map[string]uint64{packetUnknown: 300}, p.skipped.Counts())
	require.Equal(t, 1, logs.Len())
	require.True(t, p.skipped.Add("understudy.new", "a:1"), "there is room for others")
}

func FuzzPacketHeader(f *testing.F) {
	f.Add(append(appendPacketHeader(nil, Version, 7, remote.NodeID{Address: "a:1", Incarnation: 1}), "data"...))
	f.Add([]byte{packetUser, Version})
	f.Fuzz(func(t *testing.T, b []byte) {
		from, data, err := parsePacket(b, protocol.UpTo(Version), 7)
		if err != nil {
			require.ErrorIs(t, err, remote.ErrFrame)
			return
		}
		require.Equal(t, b, append(appendPacketHeader(nil, Version, 7, from), data...))
	})
}
