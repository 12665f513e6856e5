package actor

import (
	"fmt"
	"reflect"
	"strconv"
	"sync"

	"github.com/understudy-go/understudy/internal/codec"
)

// exports are the asks and adapters whose refs have been sent to other nodes. They are not in the
// tree of actors, so incoming messages find them here until they end.
type exports struct {
	mu    sync.Mutex // guards byUID
	byUID map[uint64]*core
}

// exportable returns why the ref of an ask is of no use on another node: a reply could not be sent
// back. It is better known before the request is sent than after it has been handled. For all refs
// it lets the codec know the type that another node is about to send: see nameOfResult.
func exportable(c *core) error {
	typed, ok := c.impl.(interface{ messageType() reflect.Type })
	if !ok {
		return nil
	}
	t, asks := typed.messageType(), c.outside && c.parent == nil
	if _, named := codec.NameOf(t); named || t.Kind() == reflect.Interface || !asks {
		return nil
	}
	return fmt.Errorf("%w: the reply: %w", ErrNotSerializable, &codec.UnregisteredError{Type: t})
}

func (e *exports) add(c *core) {
	if !c.outside {
		return
	}
	if target := c.actor(); target != c { // an adapter ends with its actor
		if e.put(c) && !target.addWatcher(exportedAdapter{e, c.uid}) {
			e.remove(c.uid)
		}
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over && !c.flags.has(exported) && e.put(c) {
		c.flags.set(exported)
	}
}

func (e *exports) put(c *core) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.byUID == nil {
		e.byUID = make(map[uint64]*core)
	}
	if e.byUID[c.uid] != nil {
		return false
	}
	e.byUID[c.uid] = c
	return true
}

func (e *exports) remove(uid uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.byUID, uid)
}

func (e *exports) find(uid uint64) *core {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.byUID[uid]
}

// In a message from another node the number is not in the path.
func (e *exports) lookup(path string, uid uint64) *core {
	if path == askPath || path == tempPath {
		return e.find(uid)
	}
	if _, number, ok := outsideTree(path); ok {
		if uid, err := strconv.ParseUint(number, 10, 64); err == nil {
			return e.find(uid)
		}
	}
	return nil
}

type exportedAdapter struct {
	from *exports
	uid  uint64
}

func (x exportedAdapter) watchedEnded(*core, error) { x.from.remove(x.uid) }
