package actor

import "slices"

// A watcher must be comparable, and watches an actor at most once.
type watcher interface {
	watchedEnded(target *core, err error) // must not block
}

// watchers are in the order in which they came. Adding and removing takes constant time.
type watchers struct {
	list []watcher       // nil entries have been removed
	at   map[watcher]int // index in list; nil while that is short
	gone int
}

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

func (w *watchers) pack() {
	*w = watchers{list: w.all()}
	if len(w.list) > fewWatchers {
		w.index()
	}
}

func (w *watchers) all() []watcher {
	if len(w.list) == w.gone {
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

func (c *core) tellWatchers() {
	all, cause := c.takeWatchers()
	if c.flags.has(exported) { // which is not set any more
		c.sys.exports.remove(c.uid)
	}
	for _, w := range all {
		w.watchedEnded(c, cause)
	}
}
