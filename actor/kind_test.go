package actor_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
)

func TestAKindIsAShortPrintableWord(t *testing.T) {
	for _, kind := range []string{"", "cart", "Warenkorb für Ünïcode 🛒", strings.Repeat("k", 100)} {
		require.NotPanics(t, func() { actor.WithKind(kind) }, kind)
	}
	for _, kind := range []string{"a\nb", "\x1b[31m", "\xff", "\x00", strings.Repeat("k", 101)} {
		require.Panics(t, func() { actor.WithKind(kind) }, "%q", kind)
	}
}
