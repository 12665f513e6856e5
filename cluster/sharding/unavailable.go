package sharding

import (
	"fmt"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/singletonhook"
)

// unavailable explains why an ask of an entity got no reply, see [extension.OnAskTimeout].
func (h *hub) unavailable(path string) error {
	r, name := h.regionAt(path)
	if r == nil {
		return nil
	}
	if id, ok := unescape(name); ok {
		if shard, there := r.shardOf(id); there {
			l := r.lanes[shard]
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.unavailable(l.letters.Size() > 0)
		}
	}
	return nil
}

// unavailable returns why letters do not reach their entities now, as far as this node knows it, or
// nil. waits says that some wait here. mu is held.
func (l *lane) unavailable(waits bool) error {
	if why := l.obstacle(); why != "" {
		return fmt.Errorf("%w: shard %d of type %q %s%s", ErrUnavailable, l.shard, l.region.name, why, l.outage(waits))
	}
	return nil
}

func (l *lane) obstacle() string {
	if l.residents != nil {
		switch {
		case !l.residents.takes():
			return "leaves this node"
		case !l.letters.Clear():
			return "waits for the messages that its former home returns"
		}
		return ""
	}
	if l.opens != nil {
		return "starts, and waits for the messages that its former home has left"
	}
	home, found := l.region.homeOf(l.shard)
	switch {
	case !found:
		return "has no home yet"
	case !l.region.hub.post.Reaches(home):
		return fmt.Sprintf("has its home on %s, which cannot be reached; it moves when that node is removed", home.Address)
	case !l.letters.Clear():
		return "moves to " + home.Address
	}
	return ""
}

// explain tells the ask of a letter that begins to wait why it does. mu is held.
func (l *lane) explain(of letter) {
	why := l.unavailable(true)
	if why == nil {
		why = fmt.Errorf("%w: shard %d of type %q starts%s", ErrUnavailable, l.shard, l.region.name, l.outage(true))
	}
	extension.Explain(l.region.system, of.Message, why)
}

// outage says since when letters wait, and until when if a node has died. mu is held.
func (l *lane) outage(waits bool) string {
	if !waits {
		return ""
	}
	failover, _ := extension.Get[singletonhook.Failover](l.region.system)
	return failover.Since(l.kept, l.region.sourcing.agreed.Load())
}
