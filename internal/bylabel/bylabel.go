// Package bylabel keeps what is counted for the values of a label, such as the name of a topic.
package bylabel

import (
	"iter"
	"maps"
	"slices"
	"sync"
)

// A Map has a T for each value of a label. It keeps no more than [Limit] of them, because a metric
// needs few: all further values share the T of [Other]. The zero value is ready. All methods may be
// called by any goroutine.
type Map[T any] struct {
	mu  sync.RWMutex // guards all
	all map[string]*T
}

// Limit is how many values of a label a [Map] tells apart.
const Limit = 100

// Other is the value of the label for all beyond the limit.
const Other = "other"

// Of returns the T of a value, which is zero the first time.
func (m *Map[T]) Of(value string) *T {
	m.mu.RLock()
	t := m.all[value]
	m.mu.RUnlock()
	if t != nil {
		return t
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.add(value)
}

// mu is held.
func (m *Map[T]) add(value string) *T {
	if m.all == nil {
		m.all = map[string]*T{}
	}
	if _, known := m.all[value]; !known && len(m.all) >= Limit {
		value = Other
	}
	t := m.all[value]
	if t == nil {
		t = new(T)
		m.all[value] = t
	}
	return t
}

// All yields the values in order, with their T.
func (m *Map[T]) All() iter.Seq2[string, *T] {
	m.mu.RLock()
	all := maps.Clone(m.all)
	m.mu.RUnlock()
	return func(yield func(string, *T) bool) {
		for _, value := range slices.Sorted(maps.Keys(all)) {
			if !yield(value, all[value]) {
				return
			}
		}
	}
}
