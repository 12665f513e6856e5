package actor

import (
	"strconv"
	"strings"
)

// children are those of one actor, linked from the oldest to the youngest. The mutex of
// the parent guards it all.
type children struct {
	oldest, youngest *core
	count            int
	departing        int              // more, which have given their names back, and not told their watchers yet
	byName           map[string]*core // those that were given a name; nil while there are few
	byNumber         map[uint64]*core // those that were not; nil until one is looked for among many
}

// fewChildren is how many are looked through one by one.
const fewChildren = 8

func (c *children) add(child *core) {
	child.older = c.youngest
	if c.youngest == nil {
		c.oldest = child
	} else {
		c.youngest.younger = child
	}
	c.youngest = child
	c.count++
	c.index(child)
}

// index puts child into the index that is for it, if that exists.
func (c *children) index(child *core) {
	switch {
	case child.label == "" && c.byNumber != nil:
		c.byNumber[child.uid] = child
	case child.label != "" && c.byName != nil:
		c.byName[child.label] = child
	}
}

func (c *children) remove(child *core) {
	if child.older == nil {
		c.oldest = child.younger
	} else {
		child.older.younger = child.younger
	}
	if child.younger == nil {
		c.youngest = child.older
	} else {
		child.younger.older = child.older
	}
	child.older, child.younger = nil, nil
	c.count--
	delete(c.byName, child.label)
	delete(c.byNumber, child.uid)
	if c.count == 0 {
		c.byName, c.byNumber = nil, nil
	}
}

func (c *children) list() []*core {
	all := make([]*core, 0, c.count)
	for child := c.oldest; child != nil; child = child.younger {
		all = append(all, child)
	}
	return all
}

// find returns the child of the name, or nil.
func (c *children) find(name string) *core {
	if c.count <= fewChildren {
		for child := c.oldest; child != nil; child = child.younger {
			if child.name() == name {
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
	for child := c.oldest; child != nil; child = child.younger {
		if (child.label == "") == number {
			c.index(child)
		}
	}
}
