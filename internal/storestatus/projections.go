package storestatus

import (
	"slices"
	"strings"
	"sync"
)

// Projections are those that run on a node. All methods may be called by any goroutine.
type Projections struct {
	mu  sync.Mutex // guards all
	all map[*func() Projection]struct{}
}

// NewProjections returns an empty list.
func NewProjections() *Projections { return &Projections{all: map[*func() Projection]struct{}{}} }

// Add adds a projection, until remove is called. read must not block.
func (p *Projections) Add(read func() Projection) (remove func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[&read] = struct{}{}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.all, &read)
	}
}

// Read returns all, by name.
func (p *Projections) Read() []Projection {
	p.mu.Lock()
	defer p.mu.Unlock()
	read := []Projection{}
	for each := range p.all {
		read = append(read, (*each)())
	}
	slices.SortFunc(read, func(a, b Projection) int { return strings.Compare(a.Name, b.Name) })
	return read
}
