package cluster

import (
	"maps"
	"slices"
	"sync"

	"github.com/understudy-go/understudy/cluster/membership"
	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/internal/singletonhook"
)

// clientTakers shows the proxies of a client the members that have managers. The client asks its
// contact about the singletons that have a proxy.
type clientTakers struct {
	client *Client

	mu    sync.Mutex     // guards names
	names map[string]int // the number of proxies by name of the singleton
}

var _ singletonhook.Takers = (*clientTakers)(nil)

// Takers implements [singletonhook.Takers].
func (t *clientTakers) Takers(name string) []node.ID {
	var ids []node.ID
	v := t.client.View()
	for _, m := range membership.Candidates(v) {
		if m.Status == Up && v.Reachable(m) && t.client.manages(m.ID(), name) {
			ids = append(ids, m.ID())
		}
	}
	return ids
}

// Listen implements [singletonhook.Takers].
func (t *clientTakers) Listen(name string, changed func()) (cancel func()) {
	t.count(name, 1)
	t.client.askSoon()
	forget := t.client.views.listen(changed)
	return func() {
		forget()
		t.count(name, -1)
	}
}

func (t *clientTakers) count(name string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.names[name] += n; t.names[name] == 0 {
		delete(t.names, name)
	}
}

// singletons returns the sorted names of the singletons that have a proxy.
func (t *clientTakers) singletons() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.names))
}
