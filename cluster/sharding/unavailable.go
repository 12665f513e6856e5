package sharding

import (
	"fmt"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/shardtree"
	"github.com/understudy-go/understudy/internal/singletonhook"
)

// unavailable explains why an ask of an entity got no reply, see [extension.OnAskTimeout].
func (h *hub) unavailable(path string) error {
	rest, below := strings.CutPrefix(path, "/"+shardtree.Name+"/")
	typ, name, ok := cutType(rest)
	if !below || !ok {
		return nil
	}
	r := h.region(typ)
	if r == nil {
		return nil
	}
	if id, ok := unescape(name); ok {
		if shard, there := r.shardOf(id); there {
			l := r.lanes[shard]
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.unavailable()
		}
	}
	return nil
}

// unavailable returns why letters do not reach their entities now, as far as this node knows it, or
// nil. mu is held.
func (l *lane) unavailable() error {
	if why := l.obstacle(); why != "" {
		return fmt.Errorf("%w: shard %d of type %q %s%s", ErrUnavailable, l.shard, l.region.name, why, l.outage())
	}
	return nil
}

func (l *lane) obstacle() string {
	if l.residents != nil {
		switch {
		case !l.residents.takes():
			return "leaves this node"
		case !l.buffer.Clear():
			return "waits for the messages that its former home returns"
		}
		return ""
	}
	home, found := l.region.homeOf(l.shard)
	switch {
	case !found:
		return "has no home yet"
	case !l.region.hub.outside.reaches(home):
		return fmt.Sprintf("has its home on %s, which cannot be reached; it moves when that node is removed", home.Address)
	case !l.buffer.Clear():
		return "moves to " + home.Address
	}
	return ""
}

// explain tells the ask of a letter that is kept why it waits: on another node or a client it
// cannot know. mu is held.
func (l *lane) explain(of letter) {
	if l.buffer.Size() == 1 {
		l.kept = time.Now()
	}
	why := l.unavailable()
	if why == nil {
		why = fmt.Errorf("%w: shard %d of type %q starts%s", ErrUnavailable, l.shard, l.region.name, l.outage())
	}
	extension.Explain(l.region.system, of.Message, why)
}

// outage says since when letters wait, and until when if a node has died. mu is held.
func (l *lane) outage() string {
	if l.buffer.Size() == 0 {
		return ""
	}
	failover, _ := extension.Get[singletonhook.Failover](l.region.system)
	return failover.Since(l.kept, l.region.set.sourced)
}
