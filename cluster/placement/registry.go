package placement

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
)

// A Type is a kind of actors that can be placed: they are made from an S, and take messages
// of type M. Make one by [Register].
type Type[S, M any] struct{ name string }

// types are those that this process has registered.
var types struct {
	mu     sync.Mutex // guards byName
	byName map[string]starter
}

// Register makes a kind of actors known to this process, under a name that all nodes use
// and that never changes. Nodes whose programs have not registered it cannot run them. Call
// it from init functions or package variables:
//
//	var storage = placement.Register("storage-agent", newStorage)
//
// factory is called inside the new actor, each time one is started, so it may take its
// time; a panic in it is a start that has failed. The state travels as CBOR, in journals and
// between nodes: only exported fields of it do, and no refs, which would not outlive the
// node of their actor. Factories find the label by [LabelOf], with the context of the actor, as in
// behaviors.Setup, and singletons their generation by singleton.GenerationOf.
//
// It panics when the name is empty or taken, without a factory, and when S cannot be
// encoded.
func Register[S, M any](name string, factory func(S) actor.Behavior[M]) Type[S, M] {
	if name == "" {
		panic("placement: a type needs a name")
	}
	if factory == nil {
		panic(fmt.Sprintf("placement: type %q needs a factory", name))
	}
	if err := encodable[S](); err != nil {
		panic(fmt.Sprintf("placement: type %q: the state %v cannot be encoded as CBOR; use fields that can: %v", name, reflect.TypeFor[S](), err))
	}
	types.mu.Lock()
	defer types.mu.Unlock()
	if types.byName[name] != nil {
		panic(fmt.Sprintf("placement: type %q is registered already; give this one another name", name))
	}
	if types.byName == nil {
		types.byName = map[string]starter{}
	}
	types.byName[name] = typed[S, M]{name, factory}
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

// starterOf returns what starts actors of a type.
func starterOf(name string) (starter, error) {
	types.mu.Lock()
	defer types.mu.Unlock()
	s := types.byName[name]
	if s == nil {
		return nil, fmt.Errorf("no type %q is registered in this program; import the package that calls placement.Register(%q, …), or do not let it be placed here", name, name)
	}
	return s, nil
}

// Name returns the name under which it was registered.
func (t Type[S, M]) Name() string { return t.name }

// Spec returns the description of an actor that is made from state and may run anywhere. An
// error of encoding the state is returned by [Coordinator.Submit].
func (t Type[S, M]) Spec(label string, state S) Spec {
	data, err := codec.Marshal(state)
	return Spec{Label: label, Type: t.name, State: data, err: err}
}

// Singleton returns the description of a singleton that is made from state. An error of
// encoding the state is returned by [Coordinator.StartSingleton].
func (t Type[S, M]) Singleton(label string, state S, anchor Anchor) SingletonSpec {
	data, err := codec.Marshal(state)
	return SingletonSpec{Label: label, Type: t.name, State: data, Anchor: anchor, err: err}
}
