package actor

import "slices"

// A watcher is told of the end of what it watches. It must be comparable, and watches an
// actor once at most.
type watcher interface {
	watchedEnded(target *core, err error) // must not block
}

// watchers are those of a core, in the order in which they came; nil are none. Where there
// are many, each goes as quickly as if there were few.
type watchers struct {
	list []watcher       // nil: it has gone
	at   map[watcher]int // where in the list; nil while that is short
	gone int             // how many of the list have
}

// fewWatchers is how many a list is searched for.
const fewWatchers = 8

func (w *watchers) add(one watcher) {
	w.list = append(w.list, one)
	switch {
	case w.at != nil:
		w.at[one] = len(w.list) - 1
	case len(w.list) > fewWatchers:
		w.index()
	}
}

func (w *watchers) index() {
	w.at = make(map[watcher]int, len(w.list))
	for i, one := range w.list {
		w.at[one] = i
	}
}

func (w *watchers) remove(one watcher) {
	if w.at == nil {
		if i := slices.Index(w.list, one); i >= 0 {
			w.list = slices.Delete(w.list, i, i+1)
		}
		return
	}
	i, found := w.at[one]
	if !found {
		return
	}
	w.list[i] = nil
	delete(w.at, one)
	if w.gone++; 2*w.gone > len(w.list) {
		w.pack()
	}
}

// pack makes the list as short as it can be.
func (w *watchers) pack() {
	*w = watchers{list: w.all()}
	if len(w.list) > fewWatchers {
		w.index()
	}
}

// all returns a list of those that are left.
func (w *watchers) all() []watcher {
	if w == nil {
		return nil
	}
	all := make([]watcher, 0, len(w.list)-w.gone)
	for _, one := range w.list {
		if one != nil {
			all = append(all, one)
		}
	}
	return all
}

// addWatcher returns false when it is all over with c.
func (c *core) addWatcher(w watcher) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return false
	}
	if c.watchers == nil {
		c.watchers = new(watchers)
	}
	c.watchers.add(w)
	return true
}

func (c *core) removeWatcher(w watcher) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watchers != nil {
		c.watchers.remove(w)
	}
}

// takeWatchers returns all watchers, which are none any more.
func (c *core) takeWatchers(over bool) []watcher {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = c.over || over
	all := c.watchers.all()
	c.watchers = nil
	return all
}

// tellWatchers tells all watchers of the end of c, which is over now.
func (c *core) tellWatchers() {
	for _, w := range c.takeWatchers(true) {
		w.watchedEnded(c, c.cause)
	}
}
