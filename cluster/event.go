package cluster

import (
	"github.com/understudy-go/understudy/cluster/downing"
)

// An event is what happens to a machine.
//
//sumtype:decl
type event interface{ event() }

type (
	started  struct{} // the network is there: look for a cluster
	ticked   struct{} // some time has passed
	received struct { // from the incarnation that sent it
		from ID
		msg  message
	}
	gossiped   struct{ msg tablePush } // spread by gossip, perhaps relayed
	notReached struct {
		address  string
		refused  bool   // certainly nobody listens there
		lives    uint64 // the incarnation that lives there, and not the one that was dialled
		foreign  string // what lives there cannot talk to us, and why
		mistrust string // one of us has not proved to the other who it is, and why
	}
	found struct { // by discovery
		addresses []string
		failed    bool // it could not tell
	}
	connected struct { // a hint: gossip reaches a node, or not any more
		id ID
		on bool
	}
	leased struct { // the answer to acquire
		number uint64
		held   bool // certainly
	}
	leaveAsked   struct{}              // by the user
	downAsked    struct{ name string } // by an operator
	withoutAsked struct {              // by an operator: found a cluster without some nodes
		addresses []string
		answer    chan<- error // has room
	}
	drained struct{} // no instance of a singleton runs here, and none will start
	stopped struct{} // no actor runs here
)

func (started) event()      {}
func (ticked) event()       {}
func (received) event()     {}
func (gossiped) event()     {}
func (notReached) event()   {}
func (found) event()        {}
func (connected) event()    {}
func (leased) event()       {}
func (leaveAsked) event()   {}
func (downAsked) event()    {}
func (withoutAsked) event() {}
func (drained) event()      {}
func (stopped) event()      {}

// An action is what a machine wants done.
//
//sumtype:decl
type action interface{ action() }

type (
	send struct { // over the stream
		to  ID // of incarnation 0: to whoever lives there
		msg message
	}
	beat struct { // on both lanes, to each
		to  []string
		msg heartbeat
	}
	spread   struct{ change table }   // by gossip
	connect  struct{ address string } // connect the gossip to it
	discover struct{}                 // ask discovery, then report found
	forget   struct{ id ID }          // it is gone: drop what is queued for it
	publish  struct{ view View }
	acquire  struct { // ask for a lease, then report leased; give it back after a while
		number uint64
		ask    downing.Ask
	}
	drain struct{} // stop or hand over what singletons run here, then report drained
	stop  struct{} // stop all actors, then report stopped
	reply struct { // to the caller of a method
		to  chan<- error
		err error
	}
	end struct { // this incarnation has ended
		rejoin bool     // become another one
		known  []string // where other members lived
		err    error    // it could not even become a member
	}
	note struct { // for the log
		warn    bool
		text    string
		address string
		reason  string
	}
)

func (send) action()     {}
func (beat) action()     {}
func (spread) action()   {}
func (connect) action()  {}
func (discover) action() {}
func (forget) action()   {}
func (publish) action()  {}
func (acquire) action()  {}
func (drain) action()    {}
func (stop) action()     {}
func (reply) action()    {}
func (end) action()      {}
func (note) action()     {}
