package journal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

func TestANotifierNotifiesThoseWhoAskedBefore(t *testing.T) {
	var n journal.Notifier
	n.Notify() // for nobody
	one, two := n.Appended(), n.Appended()
	requireSilent(t, one)
	n.Notify()
	<-one
	<-two
	requireSilent(t, n.Appended())
}

func requireSilent(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
		require.Fail(t, "it has notified")
	default:
	}
}
