package receptionist

import (
	"fmt"
	"reflect"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/naming"
)

// A ServiceKey identifies a service whose instances take messages of type M. Make one with
// [NewKey]; equal keys are the same service. Using a name with two types is a mistake, but no actor
// gets a message of a type that it does not take: see [Register] and [Listing].
type ServiceKey[M any] struct{ name string }

// NewKey returns the key of a service. It panics unless the name has 1 to 1024 bytes of UTF-8
// without control characters.
func NewKey[M any](name string) ServiceKey[M] {
	if err := naming.CheckLength(name, naming.MaxElement); err != nil {
		panic(fmt.Sprintf("receptionist: the name %q of a service %v", name, err))
	}
	return ServiceKey[M]{name}
}

// Name returns the name of the service; "" for the zero ServiceKey.
func (k ServiceKey[M]) Name() string { return k.name }

// String returns the name and the type of messages.
func (k ServiceKey[M]) String() string { return k.name + " of " + codec.TypeName(reflect.TypeFor[M]()) }
