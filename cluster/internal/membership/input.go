package membership

import (
	"github.com/understudy-go/understudy/cluster/downing"
)

// An Input is an event that a machine handles.
//
//sumtype:decl
type Input interface{ input() }

type (
	Started  struct{} // the network is ready: look for a cluster
	Ticked   struct{} // some time has passed
	Received struct { // a message, from the incarnation that sent it
		From ID
		msg  message
	}
	Gossiped   struct{ msg tablePush } // a table spread by gossip, perhaps relayed
	DialFailed struct {
		Address  string
		Refused  bool   // certainly no process listens there
		Lives    uint64 // the incarnation that lives there instead of the dialled one
		Foreign  string // why the process there cannot talk to this node
		Mistrust string // why one node has not proved its identity to the other
	}
	Found struct { // the answer of discovery
		Addresses []string
		Failed    bool // discovery returned an error
	}
	Connected struct { // a hint: gossip reaches a node, or no longer does
		ID ID
		On bool
	}
	LeaseAnswered struct { // the answer to AcquireLease
		Number uint64
		Held   bool // this node certainly holds the lease
	}
	LeaveAsked        struct{}              // by the user
	DownAsked         struct{ Name string } // by an operator
	FoundWithoutAsked struct {              // by an operator: found a cluster without some nodes
		Addresses []string
		Answer    chan<- error // has room
	}
	Drained struct{} // no singleton runs here, and none will start
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

// An Action is a command of a machine to its shell.
//
//sumtype:decl
type Action interface{ action() }

type (
	Send struct { // over the stream
		To  ID // incarnation 0 means any incarnation at the address
		msg message
	}
	Beat struct { // as a datagram and on the TCP stream, to each address
		To  []string
		msg heartbeat
	}
	Spread       struct{ change table }   // by gossip
	Connect      struct{ Address string } // connect the gossip to it
	Discover     struct{}                 // call discovery, then report Found
	Forget       struct{ ID ID }          // the node is gone: drop its queued messages
	Publish      struct{ View View }
	AcquireLease struct { // ask for a lease, then report LeaseAnswered; release it after Ask.Hold
		Number uint64
		Ask    downing.Ask
	}
	Drain struct{} // stop or hand over the singletons here, then report Drained
	Stop  struct{} // stop all actors, then report Stopped
	Reply struct { // the answer to the caller of a method
		To  chan<- error
		Err error
	}
	End struct { // this incarnation has ended
		Rejoin bool     // start another incarnation
		Known  []string // addresses of other members
		Err    error    // it could not even become a member
	}
	Decided struct { // for the metrics: this node has downed members
		Decision
	}
	Note struct { // for the log
		Warn    bool
		Text    string
		Address string
		Reason  string
		Advice  string // what an operator can do; may be empty
	}
)

// A Decision says which members a node has downed, and why.
type Decision string

// The decisions.
const (
	DownOthers         Decision = "others"   // the strategy: members that this side does not hear from
	DownOurs           Decision = "ours"     // the strategy: members of this side, this node among them
	DownAsOperatorAsks Decision = "operator" // an operator has called Down
)

func (Decided) action()      {}
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
