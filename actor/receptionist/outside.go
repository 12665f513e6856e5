package receptionist

import (
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

// outside is why a system has no part in the services of a cluster that it talks to.
type outside struct{ why error }

// AttachOutside says that s talks to a cluster and is no member of it, and why: what was
// registered there would reach nobody. [Register] and [Subscribe] panic on it then, [Find]
// finds nothing and has why in the error of the listing, and topics refuse it. Package
// cluster calls it for clients, before s is given to anybody.
func AttachOutside(s *actor.System, why error) { extension.Set(s, outside{why}) }

// Outside returns why s has no part in the services of its cluster; nil when it has.
func Outside(s *actor.System) error {
	o, _ := extension.Get[outside](s)
	return o.why
}

func mustBeInside(s *actor.System, what, service string) {
	if why := Outside(s); why != nil {
		panic(fmt.Sprintf("receptionist: cannot %s service %q: %v; do it on a node, and look services up by cluster.Lookup", what, service, why))
	}
}
