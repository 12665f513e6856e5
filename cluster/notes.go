package cluster

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// names is a set of names.
type names struct {
	mu  sync.Mutex // guards all
	all []string   // sorted
}

func (n *names) add(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = union(n.all, []string{name})
}

func (n *names) sorted() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.all
}

// A blob is bytes that one goroutine replaces and others read.
type blob struct{ data atomic.Pointer[[]byte] }

func (b *blob) store(data []byte) { b.data.Store(&data) }

func (b *blob) load() []byte {
	if data := b.data.Load(); data != nil {
		return *data
	}
	return nil
}

// troubles remembers why addresses could not be reached, for people.
type troubles struct {
	mu  sync.Mutex // guards all
	all map[string]error
}

func (t *troubles) note(address string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[string]error{}
	}
	t.all[address] = err
}

// of says what is known about addresses.
func (t *troubles) of(addresses []string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []string
	for _, address := range addresses {
		if err := t.all[address]; err != nil {
			all = append(all, fmt.Sprintf("%s: %v", address, err))
		}
	}
	return strings.Join(slices.Compact(all), "; ")
}
