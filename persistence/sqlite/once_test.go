package sqlite

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/codec"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

// A deposit is the command and the event of a purse, which replies with what is in it.
type deposit struct {
	Key   string
	Coins int
	to    actor.ActorRef[string]
}

func (d deposit) once(in int) string { return fmt.Sprintf("the receipt: %d", in+d.Coins) }

func purseOfEvents(j journal.Journal) actor.Behavior[deposit] {
	return persistence.New("events", j, 0, func(in, coins int) int { return in + coins },
		func(_ *actor.Context[deposit], in int, d deposit) persistence.Effect[int] {
			return persistence.Once(d.Key, persistence.ThenReply(persistence.Persist(d.Coins), d.to, d.once(in)))
		}, persistence.Options[deposit, int, int]{SnapshotEvery: 10, DeleteEvents: true})
}

func purseOfState(j journal.Journal) actor.Behavior[deposit] {
	return persistence.NewDurableState("state", j, 0, func(_ *actor.Context[deposit], in persistence.State[int], d deposit) persistence.StateEffect[int] {
		return persistence.Once(d.Key, persistence.ThenReply(persistence.PersistState(in.Value+d.Coins), d.to, d.once(in.Value)))
	})
}

func TestRepeatedCommandsGetTheirFirstReplyFromTheFile(t *testing.T) {
	for name, purse := range map[string]func(journal.Journal) actor.Behavior[deposit]{"events": purseOfEvents, "state": purseOfState} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.db")
			pay := func(ref actor.ActorRef[deposit], key int) string {
				return testkit.Ask(t.Context(), t, ref, func(r actor.ActorRef[string]) deposit { return deposit{fmt.Sprint(key), 1, r} })
			}
			for round := range 4 { // each opens the file again
				j := openPath(t, path)
				system := testkit.NewSystem(t, testkit.WithoutEncoding())
				ref := actor.Spawn(system, purse(j), "")
				for key := range 25 * (round + 1) { // those of the former rounds come again
					for range 2 {
						require.Equal(t, fmt.Sprint("the receipt: ", key+1), pay(ref, key))
					}
				}
				require.NoError(t, system.Shutdown(context.Background()))
				require.NoError(t, j.Check(t.Context()))
				require.NoError(t, j.Close())
			}
		})
	}
}

func TestEncryptedKeysAndRepliesCannotBeFoundInTheFile(t *testing.T) {
	encryption, err := codec.NewEncryption(bytes.Repeat([]byte("k"), codec.KeySize))
	require.NoError(t, err)
	for i, purse := range []func(journal.Journal) actor.Behavior[deposit]{purseOfEvents, purseOfState, purseOfEvents, purseOfState} {
		j, encrypted := openTest(t), i > 1
		var journal journal.Journal = j
		if encrypted {
			journal = codec.Wrap(j, encryption)
		}
		for range 2 {
			system := testkit.NewSystem(t, testkit.WithoutEncoding())
			ref := actor.Spawn(system, purse(journal), "")
			for i := range 12 { // a snapshot, too
				reply := testkit.Ask(t.Context(), t, ref, func(r actor.ActorRef[string]) deposit { return deposit{fmt.Sprint("ann@example.com/", i), 1, r} })
				require.Equal(t, fmt.Sprint("the receipt: ", i+1), reply)
			}
			require.NoError(t, system.Shutdown(context.Background()))
		}
		wal, err := os.ReadFile(pathOf(j) + "-wal")
		require.NoError(t, err)
		for _, secret := range []string{"ann@example.com", "the receipt"} {
			found := slices.ContainsFunc(base64Of(secret), func(form string) bool { return bytes.Contains(wal, []byte(form)) })
			require.Equal(t, !encrypted, found, secret)
		}
	}
}

// base64Of returns text as it is, and what base64 makes of it at each of the three places.
func base64Of(text string) (forms []string) {
	forms = []string{text}
	for pad := range 3 {
		encoded := base64.StdEncoding.EncodeToString(append(make([]byte, pad), text...))
		forms = append(forms, encoded[4:len(encoded)-4]) // without what the neighbours change
	}
	return forms
}
