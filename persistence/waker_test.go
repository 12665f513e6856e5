package persistence_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/memory"
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

// sleepy is a journal that wakes nobody.
type sleepy struct {
	persistence.Journal
	persistence.EventReader
}

func TestAJournalWithACodecPassesItsHintsOn(t *testing.T) {
	inner := memory.New()
	j := persistence.WithCodec(inner, persistence.Plain)
	appended := j.(persistence.Waker).Appended()
	requireSilent(t, appended)
	inner.Ring()
	<-appended

	j = persistence.WithCodec(sleepy{inner, inner}, persistence.Plain)
	require.Nil(t, j.(persistence.Waker).Appended())
}

func requireSilent(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
		require.Fail(t, "it has rung")
	default:
	}
}
