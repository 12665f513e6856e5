package sharding

import (
	"fmt"
	"reflect"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
)

// A messageKind is what a region does that depends on the type of its messages. All else is
// compiled once, and not for each type. It is a kindFor.
type messageKind interface {
	// ref returns the ref of an entity.
	ref(name string) actor.AnyRef
	// unpack decodes a message, see [extension.UnpackMessage].
	unpack(p extension.Payload) (msg, content any, err error)
	// spawn spawns an entity. It returns nil if its shard stops.
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
	}
}
