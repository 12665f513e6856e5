package cron

import (
	"time"

	"github.com/understudy-go/understudy/actor"
)

// A command is a message to the keeper of a schedule.
//
//sumtype:decl
type command interface{ command() }

type (
	// A request asks the keeper for something, from any node.
	request struct {
		_       struct{} `cbor:",toarray"`
		Op      operation
		Entry   *Entry    // for opSet
		Name    string    // of the entry; for opList that after which the answer begins
		At      time.Time // for opTrigger, when the run was due
		ReplyTo actor.ActorRef[actor.Result[answer]]
	}

	// stopSoon: the instance is to end.
	stopSoon struct {
		_ struct{} `cbor:",toarray"`
	}

	begin struct{ quiet } // the clock is right
	look  struct{ quiet } // something is due
	ended struct {        // a run has returned
		quiet
		key key
		due time.Time
		err error
	}
)

func (request) command()  {}
func (stopSoon) command() {}
func (begin) command()    {}
func (look) command()     {}
func (ended) command()    {}

// quiet is embedded in what the keeper tells itself, which is no dead letter if it has ended.
type quiet struct{}

// Carried is for [extension.DeadLetter].
func (quiet) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

// An operation is a method of [Schedule].
type operation uint8

const (
	opSet operation = iota + 1
	opRemove
	opPause
	opResume
	opTrigger
	opList
	opGet
	opRewind
)

// An answer is the answer to a request.
type answer struct {
	_        struct{} `cbor:",toarray"`
	Statuses []Status
	More     bool // there are more after these
}

func init() {
	actor.RegisterType[request]("understudy/cron.request")
	actor.RegisterType[stopSoon]("understudy/cron.stop-soon")
	actor.RegisterType[answer]("understudy/cron.answer")
	actor.RegisterType[ledger]("understudy/cron.ledger")
	actor.RegisterType[entrySet]("understudy/cron.entry-set")
	actor.RegisterType[entryRemoved]("understudy/cron.entry-removed")
	actor.RegisterType[rewound]("understudy/cron.rewound")
	actor.RegisterType[runsSkipped]("understudy/cron.runs-skipped")
	actor.RegisterType[runDue]("understudy/cron.run-due")
	actor.RegisterType[runBegun]("understudy/cron.run-begun")
	actor.RegisterType[runEnded]("understudy/cron.run-ended")
	actor.RegisterError("understudy/cron.no-entry", ErrNoEntry)
}
