package sqlite

import (
	"sync"

	"github.com/understudy-go/understudy/persistence/journal"
)

// A reader of some slices may find nothing for a long time beside a busy id of another slice, and
// starts from the same offset each time. The journal remembers ranges without results, so that it
// does not search them again.
const (
	worthRemembering = 1024 // events without a result
	searchesKept     = 256  // number of remembered searches
)

type search struct {
	query journal.Query
	after int64
}

// searches has the ranges without results. Numbers are assigned in the order of the commits, so no
// event will ever appear in them.
type searches struct {
	mu   sync.Mutex // guards upTo
	upTo map[search]int64
}

func (s *searches) skip(q journal.Query, after int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(after, s.upTo[search{q, after}])
}

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
