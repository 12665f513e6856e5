package actor

import "sync"

// guarded is the part of a core that other goroutines change: its relations, and the flags that
// senders look at. mu guards all of it, and the queues of a cell.
type guarded struct {
	relations *relations // nil until there are some

	// Fields that each message changes come last in a core, followed by the queue of the cell:
	// apart from fields that a turn only reads, because processors should not share these cache
	// lines.
	mu        sync.Mutex
	closed    bool  // takes no more children
	dead      bool  // takes no more messages
	over      bool  // its watchers have been told
	scheduled bool  // it is a cell that is ready, or inside a turn
	suspended bool  // a restart of the cell is under way: messages wait
	plain     bool  // it is a cell that takes messages without a check of bound, bypass and stash
	instead   bool  // its parent is bypassed: messages to the parent may come here
	alone     alone // whether queue.first is a message that comes before all others that wait
	waiting   int32 // how many items the queue of the cell has
	exempt    int32 // how many of those no bound counts
}

type alone uint8

const (
	nothingAlone alone = iota
	messageAlone
	requestAlone
)

// relations are the children and watchers of a core, and what else few have.
type relations struct {
	children children
	watchers watchers
	asks     askWatches
	cause    error        // the failure that ended it; nil for none
	others   *systemEntry // of a cell: the waiting system messages that are more than a kind
	losses   *losses      // of a cell; nil for none
	drawn    drawnRequest // of a cell; see sayDrawn
	obstacle error        // why a cell handles nothing; nil for nothing, see explainAll
}

const (
	// How often a mutex is tried for, with pauses in between, before it is waited for.
	backoffRounds = 3
	// backoffSteps is about a third of a microsecond; each pause is twice the one before.
	backoffSteps = 500
)

// lockWithBackoff locks mu, which another goroutine has just held. Senders on several processors
// are fastest in bursts, in which the data of the mailbox stays in the cache of one processor. A
// sender that fails to lock therefore pauses (exponential backoff, as in T. E. Anderson, The
// performance of spin lock alternatives, 1990), and finally waits in the queue of the mutex.
func (g *guarded) lockWithBackoff() {
	for round := range backoffRounds {
		for range backoffSteps << round { // reads nothing that others write
		}
		if g.mu.TryLock() {
			return
		}
	}
	g.mu.Lock()
}

func (g *guarded) terminated() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dead || g.over // an ask is over, but not dead
}

// mu is held.
func (g *guarded) ownRelations() *relations {
	if g.relations == nil {
		g.relations = new(relations)
	}
	return g.relations
}

// A parent that is stopping or has ended takes no child. living is the child that has the name
// already.
func (g *guarded) addChild(child *core) (added bool, living *core) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || g.dead {
		return false, nil
	}
	siblings := &g.ownRelations().children
	if child.label != "" {
		if living := siblings.find(child.label); living != nil {
			return false, living
		}
	}
	siblings.add(child)
	return true, nil
}

// A sibling that is ending may have the same name.
func (g *guarded) addNamesake(child *core) (added bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || g.dead {
		return false
	}
	g.ownRelations().children.add(child)
	return true
}

func (g *guarded) isClosed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed || g.dead
}

// awaited is false if the actor has no children, not even departing ones. mu is held.
func (g *guarded) awaitChildren() (living []*core, awaited bool) {
	if g.relations == nil || g.relations.children.rest() == 0 {
		return nil, false
	}
	g.relations.children.awaited = true
	return g.relations.children.list(), true
}

func (g *guarded) child(name string) *core {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.relations == nil {
		return nil
	}
	return g.relations.children.find(name)
}

func (g *guarded) childCount() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.relations == nil {
		return 0
	}
	return g.relations.children.rest()
}

func (g *guarded) childList() []*core {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.relations == nil {
		return nil
	}
	return g.relations.children.list()
}

func (g *guarded) endBy(cause error) {
	if cause == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ownRelations().cause = cause
}

// nil takes back.
func waitsBy(g *guarded, cause error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if cause != nil || g.relations != nil {
		g.ownRelations().cause = cause
	}
}

// mu is held.
func obstacleOf(g *guarded) error {
	if g.relations == nil {
		return nil
	}
	return g.relations.obstacle
}

func (g *guarded) cause() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.relations == nil {
		return nil
	}
	return g.relations.cause
}

func (g *guarded) addWatcher(w watcher) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return false
	}
	g.ownRelations().watchers.add(w)
	return true
}

func (g *guarded) removeWatcher(w watcher) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.relations != nil {
		g.relations.watchers.remove(w)
	}
}

// The actor has ended.
func (g *guarded) takeWatchers() (all []watcher, cause error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
	if g.relations == nil {
		return nil, nil
	}
	all = g.relations.asks.takeAll(g.relations.watchers.all())
	g.relations.watchers = watchers{}
	return all, g.relations.cause
}
