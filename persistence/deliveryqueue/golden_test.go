package deliveryqueue

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/golden"
	"github.com/understudy-go/understudy/persistence/journal"
)

func TestRecordsOfAllVersionsAreRead(t *testing.T) {
	golden.Values(t,
		message{Number: 3, Payload: extension.Payload{Type: "bank.deposited", Data: []byte{0xa1, 0x61, 'n', 7}}},
		settledUpTo{UpTo: 2},
		settled{Numbers: []uint64{4, 6}},
		refused{Number: 5, Reason: "no such account", Time: time.Date(2026, 11, 25, 12, 30, 0, 5, time.UTC), Records: 2},
		removed{Numbers: []uint64{5}},
	)
}

func TestARecordOfANewerVersionIsRefused(t *testing.T) {
	for _, c := range []struct {
		typ, says string
		corrupt   bool
	}{
		{"understudy/deliveryqueue.message/2", `no type is registered as "understudy/deliveryqueue.message/2" here, only "understudy/deliveryqueue.message/1"`, false},
		{"understudy/deliveryqueue.message/1", "decode", true},
	} {
		j := journal.NewMemory()
		claim, err := j.Claim(t.Context(), "orders", journal.WriterID{}, journal.Bounds{})
		require.NoError(t, err)
		record := journal.Record{Seq: 1, Epoch: claim.Epoch, Type: c.typ, Payload: []byte{0xa0}}
		require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{{ID: "orders", Epoch: claim.Epoch, Records: []journal.Record{record}}})[0])
		_, _, err = New("orders", j).Load(t.Context())
		require.ErrorContains(t, err, c.says)
		require.Equal(t, c.corrupt, errors.Is(err, journal.ErrCorrupt), err)
	}
}
