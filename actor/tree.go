package actor

import "strings"

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
