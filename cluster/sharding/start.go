package sharding

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/internal/journaled"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/leaseholder"
	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/persistence"
)

// A Host is where a type of entities is started: a *cluster.Node, or, without a cluster, an
// *actor.System. [RefOf] takes a *cluster.Client as well.
type Host interface {
	actor.Spawner
	Name() string
}

// Start makes entities of a type available on this node, and lets the node host them. Call it on
// every node, with the same name, message type, [Shards] and [Role].
//
// factory returns the behavior of an entity. It is called inside the new actor each time that the
// entity starts, so it may block. A panic in it is a failure of the entity.
//
// A type is event-sourced if the entities are that start first, each with behaviors.EventSourced or
// behaviors.DurableState, however wrapped. When their node crashes, such entities start elsewhere
// as soon as it has been removed from the cluster, because the journal refuses what they may still
// write there. Before an event is stored they must change nothing outside. Entities of other types
// wait for the removal margin, see cluster.Gone, and so do those of a type that has had none yet.
//
// Do not mix both kinds in a type. Once the nodes know that it is event-sourced, an entity that is
// not fails before its first message, also after an upgrade. Before they know, one entity that is
// not event-sourced is enough, and the type is not event-sourced.
//
// Start returns the [Region] at once; messages to its entities wait until their shards have a home.
// Without a cluster all entities run in s.
//
// Without cluster.Config.Journal, a coordinator that takes over asks all nodes what they run, and
// allots nothing before each of them has answered or has been removed. Generations of shards then
// begin again when all nodes have been stopped at once; they rise above what the journals of
// entities have as soon as one is asked for.
//
// Start returns an error if an option makes no sense, and [ErrStopped] when s has stopped. It
// panics if the name is not valid or factory is nil, and if the node has started the type before
// with another message type. With the same one it returns the first Region. Options that differ
// from those of the first start have no effect, and are named in a warning in the log.
func Start[M any](s Host, name string, factory func(Entity) actor.Behavior[M], opts ...Option) (*Region[M], error) {
	check(name, factory == nil)
	set, err := settingsOf(opts)
	if err != nil {
		return nil, err
	}
	return startRegion(s, name, func(e Entity, _ int) actor.Behavior[M] { return factory(e) }, set)
}

func startRegion[M any](s Host, name string, factory func(of Entity, shards int) actor.Behavior[M], set settings) (*Region[M], error) {
	if _, fits := set.stopMessage.(M); set.stopMessage != nil && !fits {
		return nil, fmt.Errorf("sharding: the stop message of type %q is a %T, which its entities do not take", name, set.stopMessage)
	}
	if err := extension.CheckOptions[M](set.spawn...); err != nil {
		return nil, fmt.Errorf("sharding: type %q: %w", name, err)
	}
	set.leases = leasesOf(s, set.leases)
	h, local, err := hubFor(s, name, set)
	if err != nil {
		return nil, err
	}
	r := newRegion(h, name, set)
	setKind(r, factory)
	if r, err = r.join(local); err != nil {
		return nil, err
	}
	return r.shell.(*Region[M]), nil // join has checked it
}

// join adds the region to its hub, and returns it, or the one that is there.
func (r *region) join(local bool) (*region, error) {
	h := r.hub
	same, err := h.add(r)
	switch {
	case err != nil:
		return nil, err
	case same != nil:
		r.checkSame(same)
		return same, nil
	}
	keepTimers(r)
	showState(r)
	if local {
		h.ref.Tell(startAll{region: r})
	} else {
		h.outside.(*clustered).offer(r) // hubFor has made it
	}
	return r, nil
}

// checkSame panics unless a region that was started before may stand for this one.
func (r *region) checkSame(before *region) {
	if reflect.TypeOf(before.shell) != reflect.TypeOf(r.shell) {
		panic(fmt.Sprintf("sharding: type %q is a %T on this node already; give it another name", r.name, before.shell))
	}
	if (before.set.daemons > 0) != (r.set.daemons > 0) {
		panic(fmt.Sprintf("sharding: type %q was started both by Start and by Daemon; give one another name", r.name))
	}
	warnOfOthers(r.hub, r.name, before.set, r.set)
}

// check panics if the name of a type is not valid, or its factory nil.
func check(name string, noFactory bool) {
	if err := naming.CheckLength(name, maxID); err != nil {
		panic(fmt.Sprintf("sharding: the name %q of a type %v", name, err))
	}
	if strings.Contains(name, idSeparator) {
		panic(fmt.Sprintf("sharding: the name %q of a type contains %q, which separates it from ids", name, idSeparator))
	}
	if noFactory {
		panic(fmt.Sprintf("sharding: the factory of type %q is nil", name))
	}
}

// leasesOf returns given, or else the leases of the node. It is a function of its own because a
// generic one that names a *cluster.Node compiles all that the node has, in each package that
// shards a type.
func leasesOf(s Host, given leaseholder.Source) leaseholder.Source {
	if n, clustered := s.(*cluster.Node); clustered && given == nil {
		given, _ = extension.Get[leaseholder.Source](n.System)
	}
	return given
}

func hubFor(s Host, typ string, set settings) (h *hub, local bool, err error) {
	switch s := s.(type) {
	case *actor.System:
		if err := checkJournal(s, typ, set.remember, false); err != nil {
			return nil, false, err
		}
		return hubOf(s), true, nil
	case *cluster.Node:
		if err := checkJournal(s.System, typ, set.remember, set.leases != nil); err != nil {
			return nil, false, err
		}
		return clusteredOf(s), false, nil
	}
	return nil, false, errors.New("sharding: Start takes a *cluster.Node or an *actor.System")
}

// checkJournal returns an error if a type needs a journal and s has none.
func checkJournal(s *actor.System, typ string, remembers, leased bool) error {
	switch {
	case journaled.JournalOf(s) != nil:
		return nil
	case remembers:
		return fmt.Errorf("sharding: Remember keeps the ids of the entities of type %q: %w", typ, persistence.ErrNoJournal)
	case leased:
		return fmt.Errorf("sharding: a lease for type %q needs to know what former members ran: %w", typ, persistence.ErrNoJournal)
	}
	return nil
}

// A messageKind is what a region does that depends on the type of its messages. All else is
// compiled once, and not for each type. It is a kindFor.
type messageKind interface {
	// ref returns the ref of an entity.
	ref(name string) actor.AnyRef
	// unpack decodes a message, see [extension.UnpackMessage].
	unpack(p extension.Payload) (msg, content any, err error)
	// spawn spawns an entity, or for a look an actor like it. It returns nil if its shard stops.
	spawn(all *residents, name string) actor.AnyRef
}

type kindFor[M any] struct {
	system  *actor.System
	refs    func(name string) actor.ActorRef[M]
	factory func(of Entity, shards int) actor.Behavior[M]
}

// setKind makes the messages of a new region those of type M.
func setKind[M any](r *region, factory func(of Entity, shards int) actor.Behavior[M]) {
	k := &kindFor[M]{system: r.system, factory: factory, refs: extension.NewRoutedRefs[M](r.system, r.prefix, r)}
	r.kind, r.shell, r.message = k, &Region[M]{plain: r, refs: k.refs}, codec.TypeName(reflect.TypeFor[M]())
}

func (k *kindFor[M]) ref(name string) actor.AnyRef { return k.refs(name) }

func (k *kindFor[M]) unpack(p extension.Payload) (msg, content any, err error) {
	return extension.UnpackMessage[M](k.system, p)
}

func (k *kindFor[M]) spawn(all *residents, name string) actor.AnyRef {
	if at := all.look; at != nil {
		return actor.Spawn(at.under, behavior(k, all, name), at.name, extension.WithContext(at.with))
	}
	if ref := extension.SpawnReturning(all.actors, behavior(k, all, name), name); ref != (actor.ActorRef[M]{}) {
		return ref
	}
	return nil
}

// behavior returns the first behavior of an entity. It keeps no more than the name, because there
// may be a million of them.
func behavior[M any](k *kindFor[M], all *residents, name string) actor.Behavior[M] {
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		of := all.entity(name)
		b := k.factory(of, all.shards)
		if b == nil {
			next.Fail(fmt.Errorf("sharding: the factory of type %q has returned no behavior for %q", of.Type, of.ID))
			return
		}
		b(ctx, next)
		if all.look != nil {
			next.Stop()
		}
	}
}
