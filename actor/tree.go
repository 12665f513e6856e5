package actor

import (
	"context"
	"strings"
)

// A node is a receiver with a place in the tree of actors.
type node interface {
	signal(msg systemMsg)     // never blocks
	context() context.Context // the parent context of its children
}

// node returns the receiver of c, which is in the tree.
func (c *core) node() node { return c.impl.(node) }

// stopChildren tells all children to stop and returns how many there are.
func (c *core) stopChildren() int {
	for _, child := range c.childList() {
		child.node().signal(systemMsg{kind: sysStop})
	}
	return c.childCount()
}

// find returns the living actor at a path below c, or nil.
func (c *core) find(path string) *core {
	for below := true; below && c != nil; {
		var name string
		name, path, below = strings.Cut(path, "/")
		c = c.child(name)
	}
	return c
}

// living appends the paths of all actors below c, deepest first.
func (c *core) living(paths []string) []string {
	for _, child := range c.childList() {
		paths = child.living(paths)
		paths = append(paths, child.path())
	}
	return paths
}
