package transport_test

import (
	"strings"
	"testing"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/memnet"
)

// A described is a text with the metadata that came with it.
type described struct {
	text string
	with extension.Metadata
}

// spawnReader starts an actor at /user/reader that collects texts with their metadata.
func spawnReader(x *testNode) *collector[described] {
	c := &collector[described]{}
	actor.Spawn(x.sys, func(_ *actor.Context[string], next *actor.Next[string]) {
		next.OnMessage = func(ctx *actor.Context[string], text string) actor.Behavior[string] {
			c.add(described{text, extension.MetadataOf(ctx)})
			return nil
		}
	}, "reader")
	return c
}

func TestMetadataTravelsWithItsMessage(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		compress := func(cfg *transport.Config) { cfg.CompressFrom = 1000 }
		a, b := start(t, n, "a", compress), start(t, n, "b")
		got := spawnReader(b)
		to := ref[string](a, b, "/user/reader")
		one := extension.Metadata{}.With(1000, []byte("one"))
		two := one.With(1001, []byte("two"))
		long, large := strings.Repeat("long", 500), strings.Repeat("large", 200_000)
		to.Tell("a")
		extension.TellWith(to, "b", one)
		to.Tell("c")
		extension.TellWith(to, long, two)
		extension.TellWith(to, large, one)
		extension.TellWith(to, "d", extension.Metadata{})
		soon()
		require.Equal(t, []described{{"a", extension.Metadata{}}, {"b", one}, {"c", extension.Metadata{}}, {long, two}, {large, one}, {"d", extension.Metadata{}}}, got.got())
		require.Empty(t, a.Skipped())
		require.Empty(t, b.Skipped())
	})
}

func TestMetadataThatIsTooLargeIsDroppedAndCounted(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		got := spawnReader(b)
		to := ref[string](a, b, "/user/reader")
		extension.TellWith(to, "a", extension.Metadata{}.With(1000, make([]byte, 2000)))
		soon()
		require.Equal(t, []described{{"a", extension.Metadata{}}}, got.got())
		require.Equal(t, map[string]uint64{"metadata to send": 1}, a.Skipped())
		require.Equal(t, 1, a.logs.FilterMessage("metadata is dropped, as it is too large; its message is sent without").Len())
	})
}

func TestMessageThatFitsOnlyWithoutMetadataIsSentWithout(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		got := spawnReader(b)
		to := ref[string](a, b, "/user/reader")
		m := extension.Metadata{}.With(1000, make([]byte, 500))
		text := strings.Repeat("x", extension.MaxMessage(a.sys)-300)
		extension.TellWith(to, text, m)
		to.Tell("next")
		soon()
		require.Equal(t, []described{{text, extension.Metadata{}}, {"next", extension.Metadata{}}}, got.got())
		require.Equal(t, map[string]uint64{"metadata to send": 1}, a.Skipped())
	})
}
