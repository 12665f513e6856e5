package placement

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/internal/home/shell"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/naming"
)

// A Type is a type of actors that can be placed. Each has an initial state of type S, and takes
// messages of type M. Make one by [NewType]. A Type is identified by its name, on all nodes.
type Type[S, M any] struct{ name string }

// NewType returns the type of that name. Use the same name on all nodes, and never change it. Keep
// the type in a package variable:
//
//	var storage = placement.NewType[Volume, Request]("storage-agent")
//
// A node can run actors of the type if it has a [Type.Factory] for it. The state S is stored in
// journals and sent between nodes as CBOR, and refs in it become invalid when the node of their
// actor stops.
//
// NewType panics if the name is empty or longer than 255 bytes, and if S cannot be encoded or has a
// field that would be lost, see [actor.RegisterType].
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

// encodable returns why values of S cannot be encoded and decoded, judging from its zero value.
func encodable[S any]() error {
	if reflect.TypeFor[S]().Kind() == reflect.Interface {
		return errors.New("it is an interface, so its values could not be decoded")
	}
	if err := codec.CheckFields(reflect.TypeFor[S]()); err != nil {
		return err
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

// Spec returns the spec of an actor that is made from state and may run anywhere. If state cannot
// be encoded, [Coordinator.Submit] returns the error.
func (t Type[S, M]) Spec(label string, state S) Spec {
	return newSpec(t.name, label, state)
}

// Singleton returns the spec of a singleton that is made from state. If state cannot be encoded,
// [Coordinator.StartSingleton] returns the error.
func (t Type[S, M]) Singleton(label string, state S, anchor Anchor) SingletonSpec {
	return newSingletonSpec(t.name, label, state, anchor)
}

// A Factory makes the actors of one type on one node; see [Config.Factories].
type Factory struct{ starter starter }

// Factory returns a factory that makes actors of the type with newActor. newActor is usually a
// closure over resources of this node, for example a database.
//
//	storage.Factory(func(v Volume) actor.Behavior[Request] { return newStorage(db, v) })
//
// newActor is called inside the new actor, at each start and restart, so it may block. A panic in
// it is a failed start. opts give the actors a mailbox or a kind. With the actor's context, for
// example in behaviors.Setup, [LabelOf] returns the label, and singleton.GenerationOf the
// generation of a singleton. Factory panics if newActor is nil, or opts are not for its messages.
func (t Type[S, M]) Factory(newActor func(S) actor.Behavior[M], opts ...actor.SpawnOption) Factory {
	if newActor == nil {
		panic(fmt.Sprintf("placement: the factory of type %q is nil", t.name))
	}
	if err := extension.CheckOptions[M](opts...); err != nil {
		panic(fmt.Sprintf("placement: the factory of type %q: %v", t.name, err))
	}
	return Factory{typed[S, M]{t.name, newActor, opts}}
}

// factories are the factories of a node, by the name of their type.
type factories map[string]starter

// factoriesOf returns the factories by name, or a [*FieldError].
func factoriesOf(all []Factory) (factories, error) {
	byName := factories{}
	for i, f := range all {
		if f.starter == nil || f.starter.typeName() == "" {
			return nil, badField("Config.Factories", "Config.Factories[%d] is of no type; make it by the Factory method of what placement.NewType returns", i)
		}
		name := f.starter.typeName()
		if byName[name] != nil {
			return nil, badField("Config.Factories", "Config.Factories has two for type %q; take one out, or give their types different names", name)
		}
		byName[name] = f.starter
	}
	return byName, nil
}

// Start implements [shell.Starter].
func (f factories) Start(under *actor.Context[any], r home.StartRequest, on shell.Hooks) (shell.Running, error) {
	if s := f[r.Type]; s != nil {
		return s.start(under, r, on), nil
	}
	return shell.Running{}, fmt.Errorf("%s has no factory for type %q; give it one by placement.Config.Factories, or do not let it be placed there", under.System().Address(), r.Type)
}
