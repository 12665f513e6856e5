package placement

import (
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/deadlines"
	"github.com/understudy-go/understudy/singleton"
)

// A managed is one singleton: it decides what happens; the nodes know where it runs. Each instance
// is requested with a generation of its own, which has been granted to its node. After each change,
// step compares the desired state with the known state, and takes the next action.
type managed struct {
	in         *singletons
	label      string
	spec       SingletonSpec
	registered bool // has been started; if not, it is about to be, or its last instance is ending

	// grant is the latest grant; without an owner, it is the last owner's. unused means that no
	// instance has been requested with it.
	grant     grant
	unused    bool
	nextGrant grant // the grant once the current instance has ended; zero when the instance stays
	ending    bool  // it is removed when its instance has ended

	on              home.NodeID             // where an instance was requested last
	request         home.RequestID          // the number of that request
	askedGeneration singleton.Generation    // the highest generation of a requested instance
	expected        bool                    // a former coordinator has requested an instance, and its node has not reported yet
	drainUntil      time.Time               // when the wait for an instance to end is over; zero means no limit
	overdue         map[home.RequestID]bool // instances that have taken longer; nothing waits for them

	asking     *claim       // the claim that is in flight, or nil
	floor      uint64       // the highest term that a journal is known to have; the next grant must be above it
	granted    grant        // the last one, to any node
	requests   []home.Input // wait until the source has answered
	stopTokens []home.Token // requests that wait for its end

	attempts int       // that have failed since it ran well
	retryAt  time.Time // nothing is tried again before
	why      string    // of the last failure; "" since it runs
	failed   []string  // names of nodes where it did not start, since it ran
	since    time.Time // when it was reported to run
}

// A grant makes a node the owner of a singleton.
type grant struct {
	owner      string
	generation singleton.Generation
}

func (x *managed) touch() { x.in.nodes.Touch(x.label) }

func (x *managed) now() time.Time { return x.in.nodes.Now() }

func (x *managed) moving() bool { return x.nextGrant != grant{} }

// stays reports whether x stays where it is.
func (x *managed) stays() bool { return x.registered && !x.ending && !x.moving() }

// busy reports whether x is being moved to a node other than owner, is being stopped, or has been
// removed while an instance still runs.
func (x *managed) busy(owner string) bool {
	return x.ending || x.moving() && x.nextGrant.owner != owner || !x.registered && x.asking == nil && x.occupied()
}

// resetFailures makes the next attempt due at once.
func (x *managed) resetFailures() {
	x.attempts, x.retryAt, x.why, x.failed = 0, time.Time{}, "", nil
}

// backOff delays the next attempt; the delay doubles with each failure.
func (x *managed) backOff(why string) {
	x.attempts++
	x.why = why
	x.retryAt = x.now().Add(x.in.cfg.Delay(x.attempts))
}

// rise keeps the next instance above the term that has claimed its journal: the id was used by
// another singleton before.
func (x *managed) rise(term uint64) { x.floor = max(x.floor, term) }

// unplace removes the owner, because no instance runs any more. The generation stays.
func (x *managed) unplace() {
	x.grant.owner, x.unused = "", false
	x.resetFailures()
}

func (x *managed) startRequest(g singleton.Generation) home.StartRequest {
	return home.StartRequest{Label: x.label, Type: x.spec.Type, State: x.spec.State, Generation: g}
}

// instance returns the place of the instance that was requested last.
func (x *managed) instance() (p home.Place, ok bool) {
	p, ok = x.in.nodes.Place(x.on, x.label)
	return p, ok && p.Request.ID == x.request
}

func (x *managed) phase() SingletonPhase {
	p, has := x.instance()
	switch {
	case x.ending, x.moving():
		return SingletonDraining
	case x.grant.owner == "":
		return SingletonOwnerless
	case has && p.Phase == home.Running:
		return SingletonActive
	}
	return SingletonStarting
}

func (x *managed) ownership() Ownership {
	return Ownership{Label: x.label, Owner: x.grant.owner, Generation: x.grant.generation, Phase: x.phase(), Error: x.why}
}

// record returns what the journal stores. A new coordinator knows by it which node must report
// before it starts another instance. It is stored before a grant is acted upon: before the instance
// is requested, and before the grant is the answer to a request.
func (x *managed) record() home.Record {
	r := home.Record{Ended: x.ending || !x.registered, Owner: x.granted.owner, Granted: x.granted.generation, Generation: x.askedGeneration}
	if !r.Ended {
		r.Spec = home.Encode(x.spec)
	}
	if _, has := x.instance(); has || x.expected {
		r.Node, r.Incarnation, r.Request = x.on.Name, x.on.Incarnation, x.request
	}
	return r
}

// revive continues from a record.
func (x *managed) revive(r home.Record) {
	x.spec, x.registered, x.ending = home.Decode[SingletonSpec](r.Spec), !r.Ended, r.Ended
	x.granted, x.askedGeneration = grant{r.Owner, r.Granted}, r.Generation
	x.grant = grant{r.Node, r.Generation}
	if r.Node != "" {
		x.on, x.request, x.expected = r.On(), r.Request, true
		x.in.nodes.Expect(x.on)
	}
	if x.registered {
		x.inherit(x.granted)
	}
}

// install makes g the current grant: at once if no instance runs, and otherwise when the instance
// has ended.
func (x *managed) install(g grant) {
	x.resetFailures()
	if x.occupied() {
		x.nextGrant = g
		x.startDrain()
		return
	}
	x.grant, x.unused = g, true
}

// inherit continues with g, the last grant of a former coordinator. The instance in the journal may
// have an earlier one.
func (x *managed) inherit(g grant) {
	was := x.grant
	switch {
	case !was.generation.Less(g.generation):
		x.grant.owner = g.owner
	case was.owner != "" && was.generation.Term == g.generation.Term:
		x.grant = g
	case was.owner == "":
		x.grant, x.unused = g, true
	default: // it was being moved
		x.nextGrant = g
		x.startDrain()
	}
}

// startDrain starts the DrainTimeout of the current instance, if the spec has one.
func (x *managed) startDrain() {
	x.drainUntil = time.Time{}
	if x.spec.DrainTimeout > 0 {
		x.drainUntil = x.now().Add(x.spec.DrainTimeout)
	}
}

// step takes the next action. It stops unwanted instances, and starts an instance only when no
// other can be running.
func (x *managed) step() {
	if x.asking != nil && !x.now().Before(x.asking.until) {
		x.in.claims.end(termClaimed{Number: x.asking.number, Err: errNoAnswer})
	}
	x.stopUnwanted()
	switch {
	case x.occupied():
		x.follow()
	case x.ending, !x.registered && x.asking == nil:
		x.in.remove(x)
	case x.moving():
		x.grant, x.unused, x.nextGrant = x.nextGrant, true, grant{}
		x.drainUntil = time.Time{}
		x.place()
	default:
		x.place()
	}
}

// next returns when the next step is due even if nothing happens.
func (x *managed) next() (time.Time, bool) {
	var e deadlines.Earliest
	e.Add(x.retryAt, x.now().Before(x.retryAt))
	e.Add(x.drainUntil, !x.drainUntil.IsZero())
	if x.asking != nil {
		e.Add(x.asking.until, true)
	}
	return e.At, e.OK
}

// mayAsk reports whether x may claim a grant without a request.
func (x *managed) mayAsk() bool { return !x.ending && x.asking == nil && x.ready() }

// ready reports whether the delay after the last failure is over.
func (x *managed) ready() bool { return !x.now().Before(x.retryAt) }

// stopUnwanted stops all unwanted places. A wanted orphan is requested again with the same request
// ID, because it may have ended since its node reported it.
func (x *managed) stopUnwanted() {
	if !x.ready() {
		return
	}
	for _, p := range x.places() {
		if _, has := x.instance(); !has && !x.overdue[p.Request.ID] {
			x.recognize(p)
		}
		switch {
		case p.Phase == home.Stopping, x.wanted(p) && !p.Orphan:
		case x.wanted(p):
			r := x.startRequest(p.Request.Generation)
			r.ID = x.request
			x.in.nodes.Start(p.On, r)
		default:
			x.in.nodes.Stop(p.On, x.label, x.cause(p))
		}
	}
	n, known := x.in.nodes.Node(x.on)
	x.expected = x.expected && known && !n.Ready
}

// cause returns why an unwanted instance is stopped; "" if x ends.
func (x *managed) cause(p home.Place) cause {
	switch {
	case x.ending:
		return ""
	case x.in.nodes.Draining(p.On):
		return drained
	}
	return anchored
}

// recognize adopts an orphan as the instance of x.
func (x *managed) recognize(p home.Place) {
	x.on, x.request, x.expected = p.On, p.Request.ID, false
	if x.askedGeneration.Less(p.Request.Generation) {
		x.askedGeneration = p.Request.Generation
	}
}

// wanted reports whether p is the instance of the owner, whichever coordinator started it.
func (x *managed) wanted(p home.Place) bool {
	return x.stays() && p.On == x.on && p.Request.ID == x.request &&
		p.On.Name == x.grant.owner && p.Request.Generation.Term == x.grant.generation.Term
}

// places returns where x is or may be.
func (x *managed) places() []home.Place { return x.in.nodes.PlacesOf(x.label) }

// occupied reports whether an instance may run, other than those that are overdue.
func (x *managed) occupied() bool {
	places := x.places()
	if !x.drainUntil.IsZero() && !x.now().Before(x.drainUntil) {
		x.drainUntil, x.expected, x.overdue = time.Time{}, false, map[home.RequestID]bool{}
		for _, p := range places {
			x.overdue[p.Request.ID] = true
		}
	}
	return x.expected || slices.ContainsFunc(places, func(p home.Place) bool { return !x.overdue[p.Request.ID] })
}

// follow moves the instance to the node that its anchor names now. While no other node is eligible
// it stays.
func (x *managed) follow() {
	if to, ok := x.moveTarget(); ok && x.mayAsk() {
		x.claim(claim{purpose: toMove, owner: to})
	}
}

// moveTarget returns the node to which x must be moved, and false if x may stay where it runs.
func (x *managed) moveTarget() (owner string, ok bool) {
	p, runs := x.instance()
	v, election := x.in.nodes.View(), x.in.cfg.Election
	if !runs || !x.wanted(p) || x.spec.Anchor.keeps(p.On, v, election) {
		return "", false
	}
	n, err := x.spec.Anchor.resolve(x.label, v, election, nil)
	return n.Name, err == nil && n.Name != p.On.Name
}

// place starts an instance while no instance runs. If no instance has used the grant yet, it starts
// on the owner. Otherwise it needs a new grant: the next sequence number for another start on the
// same node, or the next term for a start on another node or above the floor.
func (x *managed) place() {
	if !x.registered || !x.mayAsk() {
		return
	}
	v, election := x.in.nodes.View(), x.in.cfg.Election
	if n, ok := x.spec.Anchor.admits(x.grant.owner, v, election); ok && x.unused {
		x.launch(home.IDOf(n))
		return
	}
	n, err := x.spec.Anchor.resolve(x.label, v, election, x.failed)
	switch {
	case err != nil:
		x.grant.owner, x.unused = "", false
		if x.attempts == 0 {
			x.why = err.Error()
		}
	case x.on == home.IDOf(n) && x.grant.owner == n.Name && x.grant.generation.Term > x.floor && x.renew():
		x.unused = true
	default:
		x.grant.owner, x.unused = "", false
		x.claim(claim{purpose: toOwn, owner: n.Name})
	}
}

// launch requests an instance from a node.
func (x *managed) launch(on home.NodeID) {
	x.unused, x.on, x.askedGeneration = false, on, x.grant.generation
	x.request = x.in.nodes.Start(on, x.startRequest(x.askedGeneration))
}
