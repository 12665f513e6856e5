package remote

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/protocol"
)

func TestPacketHeaderTellsWhoSentIt(t *testing.T) {
	from := NodeID{Address: "node-7.example.com:7355", Incarnation: 1 << 60}
	b := append(appendPacketHeader(nil, Version, clusterHash("blue"), from), "beat"...)
	require.Len(t, b, packetFixed+len(from.Address)+len("beat"))
	got, data, err := parsePacket(b, protocol.UpTo(Version), clusterHash("blue"))
	require.NoError(t, err)
	require.Equal(t, from, got)
	require.Equal(t, "beat", string(data))
}

func TestPacketsOfOthersAreDropped(t *testing.T) {
	good := appendPacketHeader(nil, Version, clusterHash("blue"), NodeID{Address: "a:1", Incarnation: 1})
	otherVersion := append([]byte(nil), good...)
	otherVersion[1]++
	for name, b := range map[string][]byte{
		"empty":                  nil,
		"of another cluster":     appendPacketHeader(nil, Version, clusterHash("green"), NodeID{Address: "a:1", Incarnation: 1}),
		"of another version":     otherVersion,
		"cut off":                good[:len(good)-1],
		"without an address":     appendPacketHeader(nil, Version, clusterHash("blue"), NodeID{Address: "", Incarnation: 1}),
		"without an incarnation": appendPacketHeader(nil, Version, clusterHash("blue"), NodeID{Address: "a:1", Incarnation: 0}),
	} {
		_, _, err := parsePacket(b, protocol.UpTo(Version), clusterHash("blue"))
		require.ErrorIs(t, err, ErrFrame, name)
	}
}

func FuzzPacketHeader(f *testing.F) {
	f.Add(append(appendPacketHeader(nil, Version, 7, NodeID{Address: "a:1", Incarnation: 1}), "data"...))
	f.Add([]byte{packetUser, Version})
	f.Fuzz(func(t *testing.T, b []byte) {
		from, data, err := parsePacket(b, protocol.UpTo(Version), 7)
		if err != nil {
			require.ErrorIs(t, err, ErrFrame)
			return
		}
		require.Equal(t, b, append(appendPacketHeader(nil, Version, 7, from), data...))
	})
}
