package actor

import (
	"context"
	"fmt"
	"strings"
)

// A node is a receiver with a place in the tree of actors.
type node interface {
	signal(msg systemMsg)     // never blocks
	context() context.Context // the parent context of its children
}

// node returns the receiver of c, which is in the tree.
func (c *core) node() node { return c.impl.(node) }

// relations are the children and watchers of a core, and the failure that ended it.
type relations struct {
	children children
	watchers watchers
	cause    error // the failure that ended it; nil for none
}

// ownRelations returns the relations for writing. core.mu is held.
func (c *core) ownRelations() *relations {
	if c.relations == nil {
		c.relations = new(relations)
	}
	return c.relations
}

// addChild puts child into the tree; false means that the parent is stopping or has ended. It
// panics if a living child has the name.
func (c *core) addChild(child *core) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.dead {
		return false
	}
	siblings := &c.ownRelations().children
	if child.label != "" && siblings.find(child.label) != nil {
		panic(fmt.Sprintf("actor: the name %q is taken by a living child of %s", child.label, c.path()))
	}
	siblings.add(child)
	return true
}

func (c *core) closeToChildren() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

// forgetChild releases the name of the child. The child counts until departed is called.
func (c *core) forgetChild(child *core) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.relations.children.remove(child)
	c.relations.children.departing++
}

// departed notes that a forgotten child has notified its watchers.
func (c *core) departed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.relations.children.departing--
}

func (c *core) child(name string) *core {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.relations == nil {
		return nil
	}
	return c.relations.children.find(name)
}

func (c *core) childCount() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.relations == nil {
		return 0
	}
	return c.relations.children.count + c.relations.children.departing
}

// childList returns the living children, oldest first.
func (c *core) childList() []*core {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.relations == nil {
		return nil
	}
	return c.relations.children.list()
}

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
