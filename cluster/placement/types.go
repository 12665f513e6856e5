package placement

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/placement/internal/plan"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/naming"
)

// A Type is a kind of actors that can be placed: they are made from an S, and take messages
// of type M. Make one by [NewType]. It is a value: equal ones are the same type, on all
// nodes.
type Type[S, M any] struct{ name string }

// NewType returns the type of that name, which all nodes use and which never changes. Keep
// it in a package variable:
//
//	var storage = placement.NewType[Volume, Request]("storage-agent")
//
// It makes no actors: a node can run those of which it is given a [Type.Factory]. The state
// S travels as CBOR, in journals and between nodes: only exported fields of it do, and no
// refs, which would not outlive the node of their actor.
//
// It panics when the name is empty, and when S cannot be encoded.
func NewType[S, M any](name string) Type[S, M] {
	if name == "" {
		panic("placement: a type needs a name")
	}
	if err := naming.Check(name); err != nil {
		panic(fmt.Sprintf("placement: the name %q of a type %v", name, err))
	}
	if err := encodable[S](); err != nil {
		panic(fmt.Sprintf("placement: type %q: the state %v cannot be encoded as CBOR; use fields that can: %v", name, reflect.TypeFor[S](), err))
	}
	return Type[S, M]{name}
}

// encodable returns why values of S cannot go to CBOR and come back, as far as its zero value
// tells.
func encodable[S any]() error {
	if reflect.TypeFor[S]().Kind() == reflect.Interface {
		return errors.New("it is an interface, and nobody could tell what to decode")
	}
	var zero, back S
	data, err := codec.Marshal(zero)
	if err != nil {
		return err
	}
	return codec.Unmarshal(data, &back)
}

// Name returns the name of the type.
func (t Type[S, M]) Name() string { return t.name }

// Spec returns the description of an actor that is made from state and may run anywhere. An
// error of encoding the state is returned by [Coordinator.Submit].
func (t Type[S, M]) Spec(label string, state S) Spec {
	return plan.NewSpec(t.name, label, state)
}

// Singleton returns the description of a singleton that is made from state. An error of
// encoding the state is returned by [Coordinator.StartSingleton].
func (t Type[S, M]) Singleton(label string, state S, anchor Anchor) SingletonSpec {
	return plan.NewSingletonSpec(t.name, label, state, anchor)
}

// A Factory makes the actors of one type on one node, see [Config.Factories].
type Factory struct{ starter starter }

// Factory returns what makes actors of the type on a node, by newActor. That is a closure
// of whatever its actors need there, a database for instance:
//
//	storage.Factory(func(v Volume) actor.Behavior[Request] { return newStorage(db, v) })
//
// newActor is called inside the new actor, each time one is started, so it may take its
// time; a panic in it is a start that has failed. It finds the label by [LabelOf], with the
// context of the actor, as in behaviors.Setup, and singletons find their generation by
// singleton.GenerationOf. It panics when newActor is nil.
func (t Type[S, M]) Factory(newActor func(S) actor.Behavior[M]) Factory {
	if newActor == nil {
		panic(fmt.Sprintf("placement: the factory of type %q is nil", t.name))
	}
	return Factory{typed[S, M]{t.name, newActor}}
}

// factories are those of a node, by the name of their type.
type factories map[string]starter

// factoriesOf returns them by name, or what is wrong with them.
func factoriesOf(all []Factory) (factories, error) {
	byName := factories{}
	for i, f := range all {
		if f.starter == nil || f.starter.typeName() == "" {
			return nil, plan.BadField("Config.Factories", "Config.Factories[%d] is of no type; make it by the Factory method of what placement.NewType returns", i)
		}
		name := f.starter.typeName()
		if byName[name] != nil {
			return nil, plan.BadField("Config.Factories", "Config.Factories has two for type %q; take one out, or give their types different names", name)
		}
		byName[name] = f.starter
	}
	return byName, nil
}

// of returns what starts actors of a type.
func (f factories) of(name string) (starter, error) {
	if s := f[name]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("this node has no factory for type %q; give it one by placement.Config.Factories, or do not let it be placed here", name)
}
