package generation

import (
	"context"
	"iter"
	"maps"
	"sync"
)

var _ Source = (*Memory)(nil)

// A Memory is a [Source] in memory, for tests, and for clusters whose nodes are all in one
// process: every node must have the same one. Make one with [NewMemory].
type Memory struct {
	operations

	mu    sync.Mutex // guards known
	known memoryEntries
}

// NewMemory returns a source that knows of nothing.
func NewMemory() *Memory {
	m := &Memory{known: memoryEntries{}}
	m.operations = m.do
	return m
}

func (m *Memory) do(ctx context.Context, apply func(entries) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return apply(m.known)
}

type memoryEntries map[string]entry

func (known memoryEntries) get(label string) entry {
	if e, ok := known[label]; ok {
		return e
	}
	return entry{Label: []byte(label)}
}

func (known memoryEntries) put(label string, e entry) { known[label] = e }

func (known memoryEntries) all() iter.Seq[entry] { return maps.Values(known) }
