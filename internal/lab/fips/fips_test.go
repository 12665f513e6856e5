//go:build !race

package fips

import (
	"bytes"
	"context"
	"crypto/fips140"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/codec"
	"github.com/understudy-go/understudy/persistence/sqlite"
)

type (
	pay  struct{ ReplyTo actor.ActorRef[int] }
	paid struct{ Card string }
)

func init() {
	actor.RegisterType[pay]("fips.pay")
	actor.RegisterType[paid]("fips.paid")
}

const card = "4000-0000-0000-0002"

// Whatever is not approved panics or fails in this mode, which a process begins with.
func TestASealedClusterWithAnEncryptedJournalRunsInFIPSMode(t *testing.T) {
	if fips140.Enforced() {
		runsSealed(t)
		return
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	again.Env = append(os.Environ(), "GODEBUG=fips140=only")
	out, err := again.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name())
}

func runsSealed(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	file := filepath.Join(t.TempDir(), "journal.db")
	store, err := sqlite.Open(file)
	require.NoError(t, err)
	encryption, err := codec.NewEncryption(bytes.Repeat([]byte{7}, codec.KeySize))
	require.NoError(t, err)
	journal := codec.Wrap(store, encryption)

	first := start(t, ctx, nil)
	second := start(t, ctx, []string{first.View().Self.Address})
	refs := []actor.ActorRef[pay]{
		actor.Spawn(first, payments(journal), "payments"),
		actor.Spawn(second, payments(journal), "payments"),
	}
	for i, ref := range refs {
		require.Equal(t, i+1, payOnce(t, ctx, ref))
	}
	require.NoError(t, first.Leave(ctx))
	require.Equal(t, 3, payOnce(t, ctx, refs[1]), "it was read back")
	require.NoError(t, second.Leave(ctx))
	require.NoError(t, store.Close())
	stored, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(stored), card)
}

func start(t *testing.T, ctx context.Context, seeds []string) *cluster.Node { //nolint:revive // ctx ends the test
	t.Helper()
	node, err := cluster.Start(ctx, cluster.Config{
		Name: "sealed", Bind: "127.0.0.1:0", Seeds: seeds, Secret: []byte("a secret of thirty-two bytes, or more"), Logger: zap.NewNop(),
	})
	require.NoError(t, err)
	t.Cleanup(node.Halt)
	return node
}

func payments(journal persistence.Journal) actor.Behavior[pay] {
	return behaviors.Singleton(func() actor.Behavior[pay] {
		return behaviors.EventSourced("payments", journal, 0,
			func(n int, _ paid) int { return n + 1 },
			func(_ *actor.Context[pay], n int, msg pay) persistence.Effect[paid] {
				return persistence.ThenReply(persistence.Persist(paid{card}), msg.ReplyTo, n+1)
			})
	})
}

func payOnce(t *testing.T, ctx context.Context, ref actor.ActorRef[pay]) int { //nolint:revive // ctx ends the test
	t.Helper()
	n, err := actor.Ask(ctx, ref, func(replyTo actor.ActorRef[int]) pay { return pay{replyTo} })
	require.NoError(t, err)
	return n
}
