package actor

import (
	"time"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/circle"
)

const (
	// An ask inside a handler is listed once it has waited for this long.
	patientAsk = 100 * time.Millisecond
	// The oldest mostWaits asks are searched for circles.
	mostWaits, mostListed = 10_000, 20
)

func (s internals) Waits() (w actorhook.Waits) {
	now := time.Now()
	all, inside := s.wakers.oldest(now.Add(-patientAsk), mostWaits)
	w.Count = inside
	edges := make([]circle.Edge[*core], len(all))
	for i, each := range all {
		asked := each.asked.actor()
		edges[i] = circle.Edge[*core]{From: each.asker, To: asked}
		if i < mostListed {
			w.Oldest = append(w.Oldest, actorhook.Wait{Asker: each.asker.path(), Asked: pathFrom(asked, each.asker), For: now.Sub(each.since)})
		}
	}
	for _, found := range circle.Of(edges) {
		var paths []string
		for _, c := range found {
			paths = append(paths, c.path())
		}
		w.Circles = append(w.Circles, paths)
		if len(w.Circles) == mostListed {
			break
		}
	}
	return w
}

// Its node is in it if that is another one than the node of other.
func pathFrom(c, other *core) string {
	if c.isRemote() || c.sys != other.sys {
		return c.fullPath()
	}
	return c.path()
}
