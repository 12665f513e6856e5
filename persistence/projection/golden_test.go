package projection

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/golden"
	"github.com/understudy-go/understudy/persistence/journal"
)

func TestAListOfHeldIDsOfEveryVersionIsRead(t *testing.T) {
	ids := []*held{{ID: "account-1", From: 7, Last: 9}, {ID: "account-2", From: 1, Last: 1}}
	now, err := encodeHeld(ids)
	require.NoError(t, err)
	then := golden.File(t, "held-1.json", func() []byte { return []byte(now + "\n") })
	got, err := decodeHeld(journal.Offset(then))
	require.NoError(t, err)
	require.Equal(t, ids, got)
	require.Equal(t, string(then), string(now+"\n"), "the list is now stored in another form: give it a new version")
}
