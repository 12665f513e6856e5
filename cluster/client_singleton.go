package cluster

import (
	"maps"
	"slices"
	"sync"

	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/internal/singletons"
	"github.com/understudy-go/understudy/remote"
)

// clientTakers shows the proxies of a client the members that have managers. The client asks its
// contact about the singletons that have a proxy.
type clientTakers struct {
	client *Client

	mu        sync.Mutex // guards all below
	followers map[*clientFollowing]bool
	awaited   []awaitedView
}

// A clientFollowing is a [singletons.Following] of a client. It follows while it listens.
type clientFollowing struct {
	*clientTakers
	name string
	seen uint64 // the version of the view that its proxy goes by; guarded by mu
}

// An awaitedView is called once all proxies go by a view of that version, or a newer one.
type awaitedView struct {
	version uint64
	reached func()
}

var _ singletons.Takers = (*clientTakers)(nil)

func (t *clientTakers) Follow(name string) singletons.Following {
	return &clientFollowing{clientTakers: t, name: name}
}

func (f *clientFollowing) Takers() []remote.NodeID {
	var ids []remote.NodeID
	v := f.client.View()
	for _, m := range membership.Candidates(v.in) {
		if m.Status == membership.Up && v.in.Reachable(m.ID()) && f.client.manages(m.ID(), f.name) {
			ids = append(ids, m.ID())
		}
	}
	f.change(func() { f.seen = v.Version })
	return ids
}

func (f *clientFollowing) Leaves(id remote.NodeID) bool {
	for _, m := range f.client.View().Members {
		if m.ID() == id {
			return m.Status == Leaving || m.Status == Exiting
		}
	}
	return false
}

func (f *clientFollowing) Listen(changed func()) (cancel func()) {
	f.change(func() { f.followers[f] = true })
	f.client.askSoon()
	forget := f.client.views.listen(changed)
	return func() {
		forget()
		f.change(func() { delete(f.followers, f) })
	}
}

// await calls reached, which must not block, once all proxies go by a view of that version.
func (t *clientTakers) await(version uint64, reached func()) {
	t.change(func() { t.awaited = append(t.awaited, awaitedView{version, reached}) })
}

func (t *clientTakers) change(do func()) {
	t.mu.Lock()
	do()
	var reached []func()
	t.awaited = slices.DeleteFunc(t.awaited, func(a awaitedView) bool {
		for f := range t.followers {
			if f.seen < a.version {
				return false
			}
		}
		reached = append(reached, a.reached)
		return true
	})
	t.mu.Unlock()
	for _, f := range reached {
		f()
	}
}

func (t *clientTakers) singletons() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	names := map[string]bool{}
	for f := range t.followers {
		names[f.name] = true
	}
	return slices.Sorted(maps.Keys(names))
}
