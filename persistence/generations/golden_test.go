package generations

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/golden"
	"github.com/understudy-go/understudy/persistence/journal"
)

func TestEntriesOfAllVersionsAreRead(t *testing.T) {
	golden.Values(t, entry{Label: []byte("singleton/one"), Term: 7, Seq: 2, Owned: true, Owner: []byte("node-1"), Kept: true, Spec: []byte("spec")})
}

func TestARecordOfANewerVersionIsRefused(t *testing.T) {
	for _, c := range []struct {
		typ, says string
		corrupt   bool
	}{
		{"understudy/generations.entry/2", `no type is registered as "understudy/generations.entry/2" here, only "understudy/generations.entry/1"`, false},
		{"understudy/generations.entry/1", "decode", true},
	} {
		j := journal.NewMemory()
		claim, err := j.Claim(t.Context(), logID, journal.WriterID{}, journal.Bounds{})
		require.NoError(t, err)
		record := journal.Record{Seq: 1, Epoch: claim.Epoch, Type: c.typ, Payload: []byte{0xa0}}
		require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{{ID: logID, Epoch: claim.Epoch, Records: []journal.Record{record}}})[0])
		_, err = NewJournal(j).List(t.Context())
		require.ErrorContains(t, err, c.says)
		require.Equal(t, c.corrupt, errors.Is(err, journal.ErrCorrupt), err)
	}
}
