package sqlite

import (
	"sync"

	"github.com/understudy-go/understudy/persistence/journal"
)

// A worker that reads a share of the slices may find nothing for long beside a busy id of
// another slice, and begins at the same offset each time. What has been searched in vain
// is remembered, so that it is not searched again.
const (
	worthRemembering = 1024 // events that were searched in vain
	searchesKept     = 256  // of so many readers
)

type search struct {
	query journal.Query
	after int64
}

// searches are how far it is known that there is nothing: as numbers are given in the order
// of the commits, nothing will ever turn up there.
type searches struct {
	mu   sync.Mutex // guards upTo
	upTo map[search]int64
}

// skip returns where a search can begin.
func (s *searches) skip(q journal.Query, after int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(after, s.upTo[search{q, after}])
}

// inVain notes that there is nothing for q from after up to last.
func (s *searches) inVain(q journal.Query, after, last int64) {
	if last-after < worthRemembering {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.upTo == nil || len(s.upTo) >= searchesKept {
		s.upTo = map[search]int64{}
	}
	s.upTo[search{q, after}] = last
}
