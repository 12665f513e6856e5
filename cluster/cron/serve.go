package cron

import (
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence"
)

// serve handles a request.
func (k *keeper) serve(r request) effect {
	facts, a, err := k.decide(k.ledger, r)
	if err != nil || len(facts) == 0 {
		return persistence.Reply[fact](r.ReplyTo, actor.Result[answer]{Value: a, Err: err})
	}
	return k.step(facts, func() { r.ReplyTo.Tell(actor.Result[answer]{}) })
}

// decide returns the facts that a request brings about, or the answer.
func (k *keeper) decide(l ledger, r request) ([]fact, answer, error) {
	switch r.Op {
	case opList:
		return nil, k.list(l, r.Name), nil
	case opSet:
		facts, err := k.set(l, r)
		return facts, answer{}, err
	case opRemove, opPause, opResume, opTrigger, opGet, opRewind:
	}
	item, there := l.Item(r.Name)
	if !there {
		return nil, answer{}, fmt.Errorf("entry %q: %w", r.Name, ErrNoEntry)
	}
	switch r.Op {
	case opRemove:
		return []fact{entryRemoved{Name: r.Name}}, answer{}, nil
	case opPause, opResume:
		return k.pause(l, item, r.Op == opPause), answer{}, nil
	case opRewind:
		return rewind(item, k.now()), answer{}, nil
	case opTrigger:
		facts, err := trigger(item, r.At)
		return facts, answer{}, err
	case opGet:
		return nil, answer{Statuses: []Status{statusOf(k.planner, item, k.now(), true)}}, nil
	case opSet, opList:
	}
	return nil, answer{}, fmt.Errorf("this host does not know the operation %d; its program is older", r.Op)
}

func (k *keeper) set(l ledger, r request) ([]fact, error) {
	if r.Entry == nil {
		return nil, errors.New("the request has no entry")
	}
	if err := k.cfg.check(*r.Entry); err != nil {
		return nil, err
	}
	if _, there := l.Item(r.Entry.Name); !there && len(l.Names()) >= MaxEntries {
		return nil, fmt.Errorf("the schedule has %d entries already, which is the most that one has", MaxEntries)
	}
	return k.change(l, *r.Entry), nil
}

func (k *keeper) pause(l ledger, item *item, paused bool) []fact {
	changed := item.Entry
	changed.Paused = paused
	return k.change(l, changed)
}

// change returns the facts by which there is an entry, and it has runs; nil if nothing changes.
func (k *keeper) change(l ledger, to Entry) []fact {
	facts := k.planner.Set(l, entrySet{Entry: to, At: k.now()})
	if item, there := l.Item(to.Name); there && item.Entry == to && len(facts) == 1 {
		return nil
	}
	return facts
}

// rewind returns the fact that no time that is yet to come has been dealt with.
func rewind(item *item, now time.Time) []fact {
	if !item.Cursor.After(now) {
		return nil
	}
	return []fact{rewound{Name: item.Entry.Name, To: now}}
}

// trigger returns the facts of a run that counts as due at that time. A request that comes twice
// triggers one run.
func trigger(item *item, at time.Time) ([]fact, error) {
	for _, o := range item.Open {
		if o.Due.Equal(at) {
			return nil, nil
		}
	}
	for _, r := range item.History {
		if r.Due.Equal(at) {
			return nil, nil
		}
	}
	switch {
	case item.Entry.Overlap == SkipRun && len(item.Open) > 0:
		return nil, fmt.Errorf("entry %q: a run is going on since %v, and runs of it do not overlap", item.Entry.Name, item.Open[0].Due)
	case len(item.Open) >= maxOpen:
		return nil, fmt.Errorf("entry %q: %d runs wait or go on, which are as many as an entry may have", item.Entry.Name, len(item.Open))
	}
	return []fact{runDue{Name: item.Entry.Name, Due: at, Manual: true}}, nil
}

// page is how many statuses one answer has. The arguments of an entry are its largest part.
const page = 50

// list returns the entries whose names come after that one.
func (k *keeper) list(l ledger, after string) answer {
	var a answer
	for _, name := range l.Names() {
		switch {
		case name <= after:
		case len(a.Statuses) == page:
			a.More = true
			return a
		default:
			item, _ := l.Item(name)
			a.Statuses = append(a.Statuses, statusOf(k.planner, item, k.now(), false))
		}
	}
	return a
}

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

	begin struct{ extension.Quiet } // the clock is right
	look  struct{ extension.Quiet } // something is due
	ended struct {                  // a run has returned
		extension.Quiet
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
