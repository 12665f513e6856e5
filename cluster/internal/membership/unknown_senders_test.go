package membership

import (
	"bytes"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/codec"
)

func TestStrangersInHeartbeatsAreBounded(t *testing.T) {
	r := newRig(nil, "n1:1")
	r.wait(time.Minute)
	require.Equal(t, phaseMember, r.phase)
	for i := range uint64(MaxMembers + 100) {
		from := ID{Address: "stranger:1", Incarnation: i + 1}
		r.happens(Received{From: from, msg: heartbeat{Cluster: r.table.cluster}})
		r.happens(Received{From: from, msg: goneSeen{}})
	}
	require.Len(t, r.unknown, MaxMembers)
	require.Empty(t, r.departure.acked)
}

// A byte of CBOR can become a member of some hundred bytes.
func TestMessageOfManyEmptyEntriesCostsLittleMemory(t *testing.T) {
	const size = 1 << 20
	body, err := codec.Marshal(tablePush{})
	require.NoError(t, err)
	at := bytes.IndexByte(body, 0xf6) // the members, which are nil
	require.Positive(t, at)
	entries := append([]byte{0x9a, 0, 0x0f, 0xff, 0xff}, bytes.Repeat([]byte{0xf6}, size-1)...)
	body = slices.Concat(body[:at], entries, body[at+1:])
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = decodeBody(kindOf(tablePush{}), body)
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, errMessage)
	require.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
}

func TestNodesThatRestartAllDayDoNotMakeTheTableTooLarge(t *testing.T) {
	all := newTable(ClusterID{1})
	for i := range uint64(MaxMembers + 1) {
		all.tombstones[ID{Address: "n1:1", Incarnation: i + 1}] = tombstone{At: int64(1 + i/10)}
	}
	require.Error(t, all.pack().check())
	all.forget(0, func(ID) bool { return true })
	require.NoError(t, all.pack().check())
	require.Len(t, all.tombstones, maxTombstones)
	require.Contains(t, all.tombstones, ID{Address: "n1:1", Incarnation: MaxMembers + 1})
	require.NotContains(t, all.tombstones, ID{Address: "n1:1", Incarnation: 1})
}
