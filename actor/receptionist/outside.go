package receptionist

import (
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

type outside struct{ why error }

// AttachOutside declares that s is connected to a cluster without being a member, and why: nobody
// would find an actor registered on s. From then on [Register] and [Subscribe] panic, [Find] finds
// nothing and returns why in the error of the listing, and topics refuse s. Package cluster calls
// it for clients before the client is used.
func AttachOutside(s *actor.System, why error) { extension.Set(s, outside{why}) }

// Outside returns why s does not take part in the services of its cluster; nil if it does.
func Outside(s *actor.System) error {
	o, _ := extension.Get[outside](s)
	return o.why
}

func mustBeInside(s *actor.System, what, service string) {
	if why := Outside(s); why != nil {
		panic(fmt.Sprintf("receptionist: cannot %s service %q: %v; do it on a node, and look services up by cluster.Lookup", what, service, why))
	}
}
