package sharding

import (
	"fmt"
	"strings"

	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/shardtree"
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
		return fmt.Errorf("%w: shard %d of type %q %s", ErrUnavailable, l.shard, l.region.name, why)
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
	why := l.unavailable()
	if why == nil {
		why = fmt.Errorf("%w: shard %d of type %q starts", ErrUnavailable, l.shard, l.region.name)
	}
	extension.Explain(l.region.system, of.Message, why)
}
