package lease

// Events, with the time at which they occur.
type (
	evAcquire struct {
		id    int
		floor uint64
	}
	evAbandon struct{ id int } // the caller of that Acquire has given up
	evRelease struct{ id int }
	evAnswer  struct { // to the request under way
		grant Grant
		err   error
	}
	evWake struct{} // time has passed
)

// Actions, to be carried out in order.
type (
	acSend struct {
		op    operation
		claim Claim // for a take
		grant Grant // for the others
	}
	acCancel struct{} // cancel the context of the request in flight
	acValid  struct {
		sent  moment
		token uint64
	} // Valid from now on, counted from sent
	acInvalid  struct{}               // Valid is false from now on
	acLost     struct{ reason error } // call the handlers
	acAcquired struct {
		id   int
		held bool
		err  error
	} // answer an Acquire
	acReleased struct {
		id  int
		err error
	} // answer a Release
)
