package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/codec"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

// A note is the command of a durable state. It stores its text; without text it asks for the stored
// one.
type note struct {
	text string
	to   actor.ActorRef[string]
}

func notebook(j journal.Journal) actor.Behavior[note] {
	return persistence.NewDurableState("notebook", j, "", func(_ *actor.Context[note], s persistence.State[string], n note) persistence.StateEffect[string] {
		if n.text == "" {
			n.to.Tell(fmt.Sprintf("%d: %s", s.Revision, s.Value))
			return persistence.None
		}
		return persistence.ThenReply(persistence.PersistState(n.text), n.to, "kept")
	})
}

func keep(t *testing.T, ref actor.ActorRef[note], text string) string {
	t.Helper()
	answer, err := actor.Ask(t.Context(), ref, func(r actor.ActorRef[string]) note { return note{text, r} })
	require.NoError(t, err)
	return answer
}

func TestADurableStateLivesInAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openPath(t, path)
	system := testkit.NewSystem(t, testkit.WithoutEncoding())
	ref := actor.Spawn(system, notebook(j), "")
	for i := range 100 {
		require.Equal(t, "kept", keep(t, ref, fmt.Sprint("text ", i)))
	}
	require.NoError(t, system.Shutdown(context.Background())) // waits for what is deleted in the background
	left, err := readAll(t, j, "notebook")
	require.NoError(t, err)
	require.LessOrEqual(t, len(left), 64)
	require.NoError(t, j.Check(t.Context()))
	require.NoError(t, j.Close())

	j = openPath(t, path)
	ref = actor.Spawn(testkit.NewSystem(t, testkit.WithoutEncoding()), notebook(j), "")
	require.Equal(t, "100: text 99", keep(t, ref, ""))
	newer := actor.Spawn(testkit.NewSystem(t, testkit.WithoutEncoding()), notebook(openPath(t, path)), "")
	require.Equal(t, "100: text 99", keep(t, newer, ""))
	_, err = actor.Ask(t.Context(), ref, func(r actor.ActorRef[string]) note { return note{"too late", r} })
	require.Error(t, err, "it is fenced off")
	require.Equal(t, "100: text 99", keep(t, newer, ""))
}

func TestAnEncryptedStateCannotBeFoundInTheFile(t *testing.T) {
	encryption, err := codec.NewEncryption(bytes.Repeat([]byte("k"), codec.KeySize))
	require.NoError(t, err)
	for _, encrypted := range []bool{false, true} {
		j := openTest(t)
		var journal journal.Journal = j
		if encrypted {
			journal = codec.Wrap(j, encryption)
		}
		ref := actor.Spawn(testkit.NewSystem(t, testkit.WithoutEncoding()), notebook(journal), "")
		require.Equal(t, "kept", keep(t, ref, "the secret of this test"))
		require.Equal(t, "1: the secret of this test", keep(t, ref, ""))
		wal, err := os.ReadFile(pathOf(j) + "-wal")
		require.NoError(t, err)
		require.Equal(t, !encrypted, bytes.Contains(wal, []byte("the secret of this test")))
	}
}
