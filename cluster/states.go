package cluster

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/inspect"
	"github.com/understudy-go/understudy/internal/statuspage"
)

// ShowStates lets requests for which authorize returns nil see what sharded entities and singletons
// have stored:
//
//	GET entity?type=TYPE&id=ID   the present state, as JSON
//	          &at=SEQ            the state after that event, or up to a time as in RFC 3339
//	          &events=N          and the last events, at most 1000
//	          &diff=SEQ          and what has changed since that event
//
// The type of a singleton is "singleton", and its id is its name.
//
// The node reads the journal, and runs the factory and the event handler of the type, but no
// command handler. It claims nothing, so an entity that runs is not disturbed, and nothing is
// written. The entity may be on another node; this one must have started the type without
// sharding.ProxyOnly, or spawned the singleton.
//
// Of bytes only the length is shown, and nothing of fields that are tagged `understudy:"secret"`.
// hides returns true for further fields that are secret; it may be nil.
//
// Errors are 400 for a request that is not understood, 403 with the text of authorize, and 404 for
// an unknown type or singleton and for an actor that is not event-sourced. ShowStates panics if
// authorize is nil.
func ShowStates(authorize func(*http.Request) error, hides func(of reflect.Type, field reflect.StructField) bool) HandlerOption {
	if authorize == nil {
		panic("cluster: ShowStates: authorize is nil; pass a function that decides which requests may see what is stored")
	}
	if hides != nil {
		asked := hides
		hides = func(of reflect.Type, field reflect.StructField) bool {
			secret, err := guard.Value(func() bool { return asked(of, field) })
			return secret || err != nil // rather too little is shown
		}
	}
	return func(s *handlerSettings) { s.showsTo, s.hides = authorize, hides }
}

func statesOf(n *Node, set *handlerSettings) *statuspage.States {
	if set.showsTo == nil {
		return nil
	}
	return &statuspage.States{
		Authorize: set.showsTo,
		Shower:    func() *inspect.Shower { return &inspect.Shower{Hides: set.hides} },
		Look: func(ctx context.Context, typ, id string, q inspect.Query) (inspect.Found, error) {
			look, known := inspect.Find(n.System, typ)
			if look == nil {
				return inspect.Found{}, fmt.Errorf("%w: this node hosts no entities of a type %q, but of %s", statuspage.ErrNoType, typ, typesText(known))
			}
			return look(ctx, id, q)
		},
	}
}

func typesText(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}
