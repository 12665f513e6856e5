package receptionist

import (
	"fmt"
	"reflect"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/naming"
)

// A ServiceKey names a service, and says what its instances are told: messages of type M.
// Make one by [NewKey]; equal keys are one service. The same name with another type is a
// mistake, and never leads a message to somebody who does not take it: see [Register] and
// [Listing].
type ServiceKey[M any] struct{ name string }

// NewKey returns the key of a service. It panics when the name cannot be carried to other
// nodes: it must have 1 to 1024 bytes, be UTF-8, and have no control characters.
func NewKey[M any](name string) ServiceKey[M] {
	if err := naming.CheckLength(name, naming.MaxElement); err != nil {
		panic(fmt.Sprintf("receptionist: the name %q of a service %v", name, err))
	}
	return ServiceKey[M]{name}
}

// Name returns the name of the service; "" for the zero ServiceKey, which is none.
func (k ServiceKey[M]) Name() string { return k.name }

// String returns the name and the type of messages.
func (k ServiceKey[M]) String() string { return k.name + " of " + typeName(reflect.TypeFor[M]()) }

// typeName is what nodes compare: the name for the wire, where there is one, as two builds
// of a program may have the type in different packages.
func typeName(t reflect.Type) string {
	if name, registered := codec.NameOf(t); registered {
		return name
	}
	if t.PkgPath() != "" {
		return t.PkgPath() + "." + t.Name()
	}
	return t.String()
}
