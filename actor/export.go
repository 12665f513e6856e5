package actor

import (
	"strconv"
	"strings"
	"sync"
)

// exports are the asks and adapters whose refs have left for other nodes: they are in
// no tree, so that incoming messages find them here. An ask leaves with its end, an
// adapter with its actor.
type exports struct {
	mu    sync.Mutex // guards byUID
	byUID map[uint64]*core
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

// export makes c reachable from other nodes, if it is not already by its path.
func (s *System) export(c *core) {
	if c.path != "" {
		return
	}
	s.exports.mu.Lock()
	defer s.exports.mu.Unlock()
	if s.exports.byUID == nil {
		s.exports.byUID = make(map[uint64]*core)
	}
	s.exports.byUID[c.uid] = c
}

func (s *System) unexport(uid uint64) {
	s.exports.mu.Lock()
	defer s.exports.mu.Unlock()
	delete(s.exports.byUID, uid)
}
