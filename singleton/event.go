package singleton

import (
	"time"

	"github.com/understudy-go/understudy/internal/node"
)

// event is what happens to a machine.
//
//sumtype:decl
type event interface{ event() }

type (
	viewed    struct{ topo Topology }
	requested struct { // from asks to host, under that term
		from    node.ID
		attempt uint64
		term    uint64
	}
	granted struct { // from runs nothing
		from    node.ID
		attempt uint64
		record  Record
		taken   uint64 // the highest term that somebody else may have used
	}
	heldUp struct { // from cannot give permission, as the instance there does not end
		from         node.ID
		attempt      uint64
		since, until time.Time // when it was told to stop, and when it is given up
	}
	instanceEnded struct {
		fenced   bool // the journal has a newer writer
		finished bool // on purpose, for good
		// leaseLost: the instance noticed before the loss was reported
		leaseLost bool
	}
	leaseAnswered struct {
		number uint64
		held   bool
		token  uint64
		err    error
	}
	leaseLost     struct{ reason error }
	leaseReleased struct{ err error } // err: it has to expire
	claimed       struct {
		number uint64
		term   uint64
		err    error
	}
	fenceHeld struct { // an instance fences its writes
		gen    Generation // under which it was started
		raised Generation // under which it goes on: the same, or what its journal says
	}
	drainAsked struct{} // this node is to start nothing any more
	ticked     struct{}
)

func (viewed) event()        {}
func (requested) event()     {}
func (granted) event()       {}
func (heldUp) event()        {}
func (instanceEnded) event() {}
func (fenceHeld) event()     {}
func (drainAsked) event()    {}
func (leaseAnswered) event() {}
func (leaseLost) event()     {}
func (leaseReleased) event() {}
func (claimed) event()       {}
func (ticked) event()        {}

// action is what a machine wants done.
//
//sumtype:decl
type action interface{ action() }

type (
	sendRequest struct {
		to      node.ID
		attempt uint64
		term    uint64
	}
	sendGrant struct {
		to      node.ID
		attempt uint64
		record  Record
		taken   uint64
	}
	sendHeldUp struct { // as of heldUp
		to           node.ID
		attempt      uint64
		since, until time.Time
	}
	reportStuck   struct{ since, until time.Time } // the instance here does not end
	startInstance struct{ gen Generation }
	stopInstance  struct{ now bool } // now: not by message, but at once
	saveRecord    struct{ record Record }
	acquireLease  struct{ number, floor uint64 }
	releaseLease  struct{}
	claimTerm     struct{ number, floor uint64 }
)

func (sendRequest) action()   {}
func (sendGrant) action()     {}
func (sendHeldUp) action()    {}
func (reportStuck) action()   {}
func (startInstance) action() {}
func (stopInstance) action()  {}
func (saveRecord) action()    {}
func (acquireLease) action()  {}
func (releaseLease) action()  {}
func (claimTerm) action()     {}
