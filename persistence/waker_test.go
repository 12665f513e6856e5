package persistence_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
)

func TestABellWakesThoseWhoAskedBefore(t *testing.T) {
	var b persistence.Bell
	b.Ring() // for nobody
	one, two := b.Appended(), b.Appended()
	requireSilent(t, one)
	b.Ring()
	<-one
	<-two
	requireSilent(t, b.Appended())
}

func requireSilent(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
		require.Fail(t, "it has rung")
	default:
	}
}
