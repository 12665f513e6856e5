package placement_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/placement"
)

// The next process at the address of a node gets what is for the one before, and has not started
// placement yet.
func TestWhatANodeThatWasRestartedRefusesIsUnavailable(t *testing.T) {
	inWorld(t, 3, func(t *testing.T, w *world) {
		w.submit(w.onTwo("one"))
		settle()
		at := w.add("n1", "one").Node[:2]
		w.Kill(at)
		added := make(chan struct{})
		go func() {
			defer close(added)
			w.Add(at)
		}()
		synctest.Wait()
		for range 20 {
			if err := w.ask("n1", "one"); errors.Is(err, actor.ErrNoSuchActor) {
				require.ErrorIs(t, err, placement.ErrUnavailable)
			}
		}
		<-added
	})
}
