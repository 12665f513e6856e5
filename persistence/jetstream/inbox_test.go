package jetstream

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

func TestAnAcknowledgementIsReadWhateverItLooksLike(t *testing.T) {
	for answer, want := range map[string]uint64{
		`{"stream":"bank","seq":42}`:                                          42,
		`{"stream":"bank","seq":18446744073709551615}`:                        1<<64 - 1,
		`{"stream":"bank","seq":7,"duplicate":true}`:                          7,
		`{"seq":7,"stream":"bank","domain":"hub"}`:                            7,
		`{"type":"io.nats.jetstream.api.v1.pub_ack","stream":"bank","seq":1}`: 1,
	} {
		at, err := stored([]byte(answer), "bank")
		require.NoError(t, err, answer)
		require.Equal(t, want, at, answer)
	}
	for answer, want := range map[string]error{
		`{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 3"},"stream":"bank","seq":0}`: errStale,
		`{"error":{"code":503,"err_code":10047,"description":"insufficient storage"}}`:                           journal.ErrFull,
		`{"stream":"other","seq":42}`: journal.ErrUnknown,
		`{"stream":"bank","seq":0}`:   journal.ErrUnknown,
		`{"stream":"bank","seq":}`:    journal.ErrUnknown,
		`{"stream":"bank"`:            journal.ErrUnknown,
		``:                            journal.ErrUnknown,
	} {
		_, err := stored([]byte(answer), "bank")
		require.ErrorIs(t, err, want, answer)
	}
}

func TestAnIDIsSearchedForWhenItHasMuchOfTheStream(t *testing.T) {
	full := make([]pointer, maxIndex)
	for i := range full {
		full[i].count = 1
	}
	long := func(at uint64) *position {
		return &position{at: at, head: head{last: 1000, deletedTo: 10, count: 1, index: full}}
	}
	require.True(t, long(1000).worthScanning(11))
	require.True(t, long(10_000).worthScanning(11))
	require.False(t, long(100_000).worthScanning(11), "it is one of many")
	require.False(t, long(1000).worthScanning(900), "the first of them is somewhere in the middle")
	require.False(t, (&position{at: 20, head: head{last: 20, count: 1, index: full[:19]}}).worthScanning(1), "its last message points to all")
	require.False(t, (&position{at: 2, head: head{last: 500, count: 500}}).worthScanning(1))
}
