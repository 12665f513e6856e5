package handover

import (
	"time"

	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/remote"
)

// An Event is an input of a [Machine].
//
//sumtype:decl
type Event interface{ event() }

// The events.
type (
	// Viewed is a topology of the cluster. The first one comes before all other events.
	Viewed struct{ directory.Topology }

	// Received is a Request, a Grant or a HeldUp of another manager. The machine ignores other
	// messages.
	Received struct{ Message wire.Any }

	// InstanceEnded says that the instance here has ended, deferred functions included.
	InstanceEnded struct {
		Fenced    bool   // a journal has a newer writer
		FencedBy  uint64 // the term of that writer; 0 if unknown
		Finished  bool   // on purpose, for good
		LeaseLost bool   // the instance noticed before the loss was reported
		Forgotten bool   // its persistence id was erased, so another instance would fail, too
	}

	// MessageWaits says that a message waits here, for which an instance that rests is started.
	MessageWaits struct{}

	// LeaseAnswered is the answer to AcquireLease.
	LeaseAnswered struct {
		Number uint64
		Held   bool
		Token  uint64
		Err    error
	}

	// LeaseLost says that the lease was lost without being released.
	LeaseLost struct{ Reason error }

	// LeaseReleased is the answer to ReleaseLease. With an error the lease has to expire.
	LeaseReleased struct{ Err error }

	// TermClaimed is the answer to ClaimTerm.
	TermClaimed struct {
		Number uint64
		Term   uint64
		Err    error
	}

	// FenceHeld says that a journal fences the writes of an instance.
	FenceHeld struct {
		Started tenure.Generation // under which the instance was started
		Raised  tenure.Generation // under which it continues: the same, or the later one of its journal
	}

	// DrainAsked says that this incarnation of the node must not start an instance any more.
	DrainAsked struct{}

	// Ticked says that the time of [Machine.Wake] has come. It may come at any time.
	Ticked struct{}
)

func (Viewed) event()        {}
func (Received) event()      {}
func (InstanceEnded) event() {}
func (MessageWaits) event()  {}
func (FenceHeld) event()     {}
func (DrainAsked) event()    {}
func (LeaseAnswered) event() {}
func (LeaseLost) event()     {}
func (LeaseReleased) event() {}
func (TermClaimed) event()   {}
func (Ticked) event()        {}

// An Action is an output of a [Machine].
//
//sumtype:decl
type Action interface{ action() }

// The actions.
type (
	// Send sends a Request, a Grant or a HeldUp.
	Send struct{ Message wire.Any }

	// ReportStuck says that the instance on a node does not end; the node may be this one.
	ReportStuck struct {
		Host         remote.NodeID
		Since, Until time.Time // when it was told to stop, and when it is given up
	}

	// StartInstance starts an instance.
	StartInstance struct{ Generation tenure.Generation }

	// StopInstance stops it: at once, or when it has handled the messages before.
	StopInstance struct{ AtOnce bool }

	// SaveRecord tells the other members what is known of the singleton.
	SaveRecord struct{ Record wire.Record }

	// AcquireLease acquires the lease with a token above the floor. The answer has the same number.
	AcquireLease struct{ Number, Floor uint64 }

	// ReleaseLease releases the lease, or cancels an AcquireLease.
	ReleaseLease struct{}

	// ClaimTerm claims a term above the floor from the generation source. The answer has the same
	// number.
	ClaimTerm struct{ Number, Floor uint64 }
)

func (Send) action()          {}
func (ReportStuck) action()   {}
func (StartInstance) action() {}
func (StopInstance) action()  {}
func (SaveRecord) action()    {}
func (AcquireLease) action()  {}
func (ReleaseLease) action()  {}
func (ClaimTerm) action()     {}
