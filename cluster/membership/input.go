package membership

import (
	"github.com/understudy-go/understudy/cluster/downing"
)

// An Input is what happens to a machine.
//
//sumtype:decl
type Input interface{ input() }

type (
	Started  struct{} // the network is there: look for a cluster
	Ticked   struct{} // some time has passed
	Received struct { // from the incarnation that sent it
		From ID
		msg  message
	}
	Gossiped   struct{ msg tablePush } // spread by gossip, perhaps relayed
	DialFailed struct {
		Address  string
		Refused  bool   // certainly nobody listens there
		Lives    uint64 // the incarnation that lives there, and not the one that was dialled
		Foreign  string // what lives there cannot talk to us, and why
		Mistrust string // one of us has not proved to the other who it is, and why
	}
	Found struct { // by discovery
		Addresses []string
		Failed    bool // it could not tell
	}
	Connected struct { // a hint: gossip reaches a node, or not any more
		ID ID
		On bool
	}
	LeaseAnswered struct { // the answer to acquire
		Number uint64
		Held   bool // certainly
	}
	LeaveAsked        struct{}              // by the user
	DownAsked         struct{ Name string } // by an operator
	FoundWithoutAsked struct {              // by an operator: found a cluster without some nodes
		Addresses []string
		Answer    chan<- error // has room
	}
	Drained struct{} // no instance of a singleton runs here, and none will start
	Stopped struct{} // no actor runs here
)

func (Started) input()           {}
func (Ticked) input()            {}
func (Received) input()          {}
func (Gossiped) input()          {}
func (DialFailed) input()        {}
func (Found) input()             {}
func (Connected) input()         {}
func (LeaseAnswered) input()     {}
func (LeaveAsked) input()        {}
func (DownAsked) input()         {}
func (FoundWithoutAsked) input() {}
func (Drained) input()           {}
func (Stopped) input()           {}

// An Action is what a machine wants done.
//
//sumtype:decl
type Action interface{ action() }

type (
	Send struct { // over the stream
		To  ID // of incarnation 0: to whoever lives there
		msg message
	}
	Beat struct { // on both lanes, to each
		To  []string
		msg heartbeat
	}
	Spread       struct{ change table }   // by gossip
	Connect      struct{ Address string } // connect the gossip to it
	Discover     struct{}                 // ask discovery, then report found
	Forget       struct{ ID ID }          // it is gone: drop what is queued for it
	Publish      struct{ View View }
	AcquireLease struct { // ask for a lease, then report leased; give it back after a while
		Number uint64
		Ask    downing.Ask
	}
	Drain struct{} // stop or hand over what singletons run here, then report drained
	Stop  struct{} // stop all actors, then report stopped
	Reply struct { // to the caller of a method
		To  chan<- error
		Err error
	}
	End struct { // this incarnation has ended
		Rejoin bool     // become another one
		Known  []string // where other members lived
		Err    error    // it could not even become a member
	}
	Note struct { // for the log
		Warn    bool
		Text    string
		Address string
		Reason  string
	}
)

func (Send) action()         {}
func (Beat) action()         {}
func (Spread) action()       {}
func (Connect) action()      {}
func (Discover) action()     {}
func (Forget) action()       {}
func (Publish) action()      {}
func (AcquireLease) action() {}
func (Drain) action()        {}
func (Stop) action()         {}
func (Reply) action()        {}
func (End) action()          {}
func (Note) action()         {}
