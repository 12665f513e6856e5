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
