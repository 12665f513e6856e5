package actor

import (
	"slices"
	"strconv"
	"strings"
)

// children are the children of one actor, oldest first. The mutex of the parent guards them.
type children struct {
	all       []*core // nil entries have ended
	count     int
	departing int              // further ones, which have released their names but not notified their watchers
	awaited   bool             // the parent waits for the end of all of them
	byName    map[string]*core // children with given names; nil while there are few
	byNumber  map[uint64]*core // nil until a child is searched among many
}

const fewChildren = 8

func (c *children) add(child *core) {
	if len(c.all) == cap(c.all) {
		c.makeRoom()
	}
	child.place = uint32(len(c.all)) //nolint:gosec // memory ends before numbers do
	c.all = append(c.all, child)
	c.count++
	c.index(child)
}

func (c *children) makeRoom() {
	if 2*c.count >= len(c.all) {
		c.all = slices.Grow(c.all, max(len(c.all), fewChildren/2))
	} else {
		c.pack()
	}
}

func (c *children) pack() {
	c.all = slices.DeleteFunc(c.all, func(child *core) bool { return child == nil })
	for i, child := range c.all {
		child.place = uint32(i) //nolint:gosec // there are fewer than before
	}
}

func (c *children) index(child *core) {
	switch {
	case child.label == "" && c.byNumber != nil:
		c.byNumber[child.uid] = child
	case child.label != "" && c.byName != nil:
		c.byName[child.label] = child
	}
}

func (c *children) remove(child *core) {
	c.all[child.place] = nil
	c.count--
	delete(c.byName, child.label)
	delete(c.byNumber, child.uid)
	if c.count == 0 {
		c.byName, c.byNumber = nil, nil
	}
	if len(c.all) > 4*max(c.count, fewChildren) {
		c.pack()
		c.all = slices.Clone(c.all)
	}
}

// Those that depart count.
func (c *children) rest() int { return c.count + c.departing }

func (c *children) list() []*core {
	list := make([]*core, 0, c.count)
	for _, child := range c.all {
		if child != nil {
			list = append(list, child)
		}
	}
	return list
}

func (c *children) find(name string) *core {
	if c.count <= fewChildren { // there are not many places either
		for _, child := range c.all {
			if child != nil && child.name() == name {
				return child
			}
		}
		return nil
	}
	digits, number := strings.CutPrefix(name, madeUp)
	c.makeIndex(number)
	if !number {
		return c.byName[name]
	}
	uid, err := strconv.ParseUint(digits, 36, 64)
	if child := c.byNumber[uid]; err == nil && child != nil && child.name() == name {
		return child
	}
	return nil
}

func (c *children) makeIndex(number bool) {
	switch {
	case number && c.byNumber == nil:
		c.byNumber = make(map[uint64]*core)
	case !number && c.byName == nil:
		c.byName = make(map[string]*core)
	default:
		return
	}
	for _, child := range c.all {
		if child != nil && (child.label == "") == number {
			c.index(child)
		}
	}
}

type node interface {
	signal(msg systemMsg) // never blocks
}

func (c *core) node() node { return c.impl.(node) }

func stopAll(actors []*core) {
	for _, c := range actors {
		c.node().signal(systemMsg{kind: sysStop})
	}
}

// The parent is told if it waits for its children and c is the last one. Its mutex is taken once
// for most actors, because all siblings need it.
func (c *core) leaveTree() {
	p := c.parent
	p.mu.Lock()
	siblings := &p.relations.children
	siblings.remove(c)
	watchers, cause := c.takeWatchers()
	if len(watchers) > 0 {
		siblings.departing++ // it counts until they know
		p.mu.Unlock()
		for _, w := range watchers {
			w.watchedEnded(c, cause)
		}
		p.mu.Lock()
		siblings.departing--
	}
	last := siblings.awaited && siblings.rest() == 0
	if last {
		siblings.awaited = false
	}
	p.mu.Unlock()
	if last {
		p.node().signal(systemMsg{kind: sysChildEnded})
	}
}

func (c *core) find(path string) *core {
	for below := true; below && c != nil; {
		var name string
		name, path, below = strings.Cut(path, "/")
		c = c.child(name)
	}
	return c
}

// The deepest are first.
func (c *core) living(paths []string) []string {
	for _, child := range c.childList() {
		paths = child.living(paths)
		paths = append(paths, child.path())
	}
	return paths
}
