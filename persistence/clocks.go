package persistence

import (
	"sync"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/storeclock"
	"github.com/understudy-go/understudy/persistence/journal"
)

type clocks struct {
	mu      sync.Mutex // guards byStore
	byStore map[journal.TimerStore]*storeclock.Clock
}

// clockOf returns the clock of a journal, which the actors of s share.
func clockOf(s *actor.System, store journal.TimerStore) *storeclock.Clock {
	all := extension.Ensure(s, func() *clocks { return &clocks{byStore: map[journal.TimerStore]*storeclock.Clock{}} })
	all.mu.Lock()
	defer all.mu.Unlock()
	c := all.byStore[store]
	if c == nil {
		c = storeclock.New(store.Now, s.Log())
		all.byStore[store] = c
	}
	return c
}
