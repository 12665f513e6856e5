package receptionist

// A Mismatch is published on the event stream of a node that uses a service, once for each
// actor that another node has registered under the name of the service with another type of
// messages. It is logged, too.
type Mismatch struct {
	Service  string
	Ref      string // path and number of the actor
	Type     string // what it takes
	Expected string // what is expected here
	Err      error  // all of that in words; wraps actor.ErrWrongType
}
