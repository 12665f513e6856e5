package generations

import (
	"context"
	"iter"
	"maps"
	"sync"

	"github.com/understudy-go/understudy/singleton/generation"
)

var _ generation.Source = (*Memory)(nil)

// A Memory is a [generation.Source] in memory, for tests and for clusters within one process. All
// nodes must use the same Memory. Make one with [NewMemory].
type Memory struct {
	operations

	mu    sync.Mutex // guards known
	known memoryEntries
}

// NewMemory returns an empty source.
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
