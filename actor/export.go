package actor

import (
	"strconv"
	"strings"
	"sync"
)

// exports are the asks and adapters whose refs have been sent to other nodes. They are not in the
// tree of actors, so incoming messages find them here until they end.
type exports struct {
	mu    sync.Mutex // guards byUID
	byUID map[uint64]*core
}

// add makes c reachable from other nodes, unless it has a path in the tree.
func (e *exports) add(c *core) {
	if !c.outside {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.byUID[c.uid]; known || !c.actor().addWatcher(exported{e, c.uid}) {
		return
	}
	if e.byUID == nil {
		e.byUID = make(map[uint64]*core)
	}
	e.byUID[c.uid] = c
}

func (e *exports) find(path string) *core {
	uid, err := strconv.ParseUint(strings.TrimPrefix(path, tempPrefix), 10, 64)
	if err != nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.byUID[uid]
}

// exported removes an exported core when it ends.
type exported struct {
	from *exports
	uid  uint64
}

func (x exported) watchedEnded(*core, error) {
	x.from.mu.Lock()
	defer x.from.mu.Unlock()
	delete(x.from.byUID, x.uid)
}
