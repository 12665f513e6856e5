package sharding

import (
	"fmt"
	"reflect"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/codec"
)

// A messageKind is what a region does that depends on the type of its messages. All else is
// compiled once, and not for each type. It is a kindFor.
type messageKind interface {
	// ref returns the ref of an entity.
	ref(name string) actor.AnyRef
	// unpack decodes a message, see [extension.UnpackMessage].
	unpack(p extension.Payload) (msg, content any, err error)
	// children returns what spawns the entities of a shard, as children of its actor.
	children(all *residents, parent actor.AnyRef, opts []actor.SpawnOption) children
}

// children are the actors of the entities of a shard, see [extension.Returning]. They are a
// childrenOf.
type children interface {
	spawn(name string) actor.AnyRef // nil if the shard stops
	offer(to actor.AnyRef, msg any, m extension.Metadata) (taken bool)
	used(of actor.AnyRef) (round uint32, worked bool)
	resting(of actor.AnyRef) bool
	rest(of actor.AnyRef)
	finish(of actor.AnyRef)
	ending() bool
}

type kindFor[M any] struct {
	region  *region
	refs    func(name string) actor.ActorRef[M]
	factory func(of Entity, shards int) actor.Behavior[M]
}

// setKind makes the messages of a new region those of type M.
func setKind[M any](r *region, factory func(of Entity, shards int) actor.Behavior[M]) {
	k := &kindFor[M]{region: r, factory: factory}
	k.refs = extension.NewRoutedRefs(r.system, r.prefix, extension.Router[M](k))
	r.kind, r.shell, r.message = k, &Region[M]{plain: r, refs: k.refs}, codec.TypeName(reflect.TypeFor[M]())
}

func (k *kindFor[M]) ref(name string) actor.AnyRef { return k.refs(name) }

func (k *kindFor[M]) unpack(p extension.Payload) (msg, content any, err error) {
	return extension.UnpackMessage[M](k.region.system, p)
}

// Told implements extension.Router.
func (k *kindFor[M]) Told(full string, msg M, m extension.Metadata) (here actor.ActorRef[M]) {
	of := k.region.toldTo(full)
	of.Metadata = m
	return enter(k, of, msg)
}

// Arrived implements extension.Router.
func (k *kindFor[M]) Arrived(path string, from uint64, msg M, encoded extension.Arrival) (here actor.ActorRef[M]) {
	of := letter{name: path[len(k.region.prefix):], from: from}
	of.Metadata = encoded.Metadata
	return enter(k, of, msg)
}

// enter takes a letter without its message, and the message. If the entity is here, the message
// goes to it as it is: inside of a letter it would be one allocation more.
func enter[M any](k *kindFor[M], of letter, msg M) (here actor.ActorRef[M]) {
	l := k.region.laneOf(of.name)
	l.mu.Lock()
	defer l.mu.Unlock()
	if to := l.reach(&of); to != nil {
		here, _ = to.(actor.ActorRef[M])
		if l.residents.actors.(*childrenOf[M]).actors.Offer(here, msg, of.Metadata) {
			return here
		}
	}
	of.Message = msg
	here, _ = l.enter(of).(actor.ActorRef[M])
	return here
}

type childrenOf[M any] struct {
	kind   *kindFor[M]
	all    *residents
	actors extension.Returning[M]
}

func (k *kindFor[M]) children(all *residents, parent actor.AnyRef, opts []actor.SpawnOption) children {
	var last *M
	if msg, ok := all.lane.region.set.stopMessage.(M); ok {
		last = &msg
	}
	c := &childrenOf[M]{kind: k, all: all}
	c.actors = extension.NewReturning(parent, extension.Owner[M](c), last, &all.lane.region.limiter.rounds, opts...)
	return c
}

func (c *childrenOf[M]) spawn(name string) actor.AnyRef {
	if ref := c.actors.Spawn(behavior(c, name), name); ref != (actor.ActorRef[M]{}) {
		return ref
	}
	return nil
}

// behavior returns the first behavior of an entity. It keeps no more than the name, because there
// may be a million of them.
func behavior[M any](c *childrenOf[M], name string) actor.Behavior[M] {
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		of := c.all.entity(name)
		b := c.kind.factory(of, c.all.shards)
		if b == nil {
			next.Fail(fmt.Errorf("sharding: the factory of type %q has returned no behavior for %q", of.Type, of.ID))
			return
		}
		b(ctx, next)
	}
}

func (c *childrenOf[M]) offer(to actor.AnyRef, msg any, m extension.Metadata) (taken bool) {
	typed, _ := msg.(M) // a nil is the zero M
	return c.actors.Offer(to.(actor.ActorRef[M]), typed, m)
}

func (c *childrenOf[M]) used(of actor.AnyRef) (round uint32, worked bool) {
	return c.actors.Used(of.(actor.ActorRef[M]))
}

func (c *childrenOf[M]) resting(of actor.AnyRef) bool {
	return c.actors.Resting(of.(actor.ActorRef[M]))
}

func (c *childrenOf[M]) rest(of actor.AnyRef) { c.actors.Rest(of.(actor.ActorRef[M])) }

func (c *childrenOf[M]) finish(of actor.AnyRef) { c.actors.Finish(of.(actor.ActorRef[M])) }

func (c *childrenOf[M]) ending() bool { return c.actors.Ending() }

// Ended implements extension.Owner.
func (c *childrenOf[M]) Ended(name string, rest []M, with []extension.Metadata, failure error) {
	var letters []letter
	for i, msg := range rest {
		letters = append(letters, letterTo(name, msg, with[i]))
	}
	c.all.endedOne(name, letters, failure)
}

// Late implements extension.Owner.
func (c *childrenOf[M]) Late(name string, msg M, m extension.Metadata) {
	c.all.late(letterTo(name, msg, m))
}
