package reminders

import (
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
)

// Msg is Remind, Cancel, List or Due.
//
//sumtype:decl
type Msg interface{ reminderMsg() }

type (
	// Remind sets a reminder. It is answered when the reminder and its timer are stored. A reminder
	// with a key that the customer has used before is not set again, so a customer who got no
	// answer may repeat it.
	Remind struct {
		Key     string
		At      time.Time
		Text    string
		ReplyTo actor.ActorRef[bool]
	}
	// Cancel cancels a reminder. The answer is false if it is too late. It may be repeated.
	Cancel struct {
		Key     string
		ReplyTo actor.ActorRef[bool]
	}
	// List asks for the keys of the reminders that are neither delivered nor cancelled.
	List struct{ ReplyTo actor.ActorRef[[]string] }
	// Due is the message of a timer. The timer has the key.
	Due struct{ Text string }
)

func (Remind) reminderMsg() {}
func (Cancel) reminderMsg() {}
func (List) reminderMsg()   {}
func (Due) reminderMsg()    {}

// Event is Set, Cancelled or Delivered.
//
//sumtype:decl
type Event interface{ reminderEvent() }

type (
	// Set is the event of Remind.
	Set struct {
		Key string
		At  time.Time
	}
	// Cancelled is the event of Cancel.
	Cancelled struct{ Key string }
	// Delivered is the event of Due.
	Delivered struct{ Key string }
)

func (Set) reminderEvent()       {}
func (Cancelled) reminderEvent() {}
func (Delivered) reminderEvent() {}

func init() {
	actor.RegisterType[Remind]("reminders.remind")
	actor.RegisterType[Cancel]("reminders.cancel")
	actor.RegisterType[List]("reminders.list")
	actor.RegisterType[Due]("reminders.due")
	actor.RegisterType[Set]("reminders.set")
	actor.RegisterType[Cancelled]("reminders.cancelled")
	actor.RegisterType[Delivered]("reminders.delivered")
}

// A reminder is what its customer knows of it.
type reminder struct {
	At     time.Time
	Status status
}

type status int

const (
	pending status = iota
	cancelled
	delivered
)

// reminders are those of one customer, by key. Those that have ended are kept as well: Remind and
// Cancel may be repeated.
type reminders map[string]reminder

// follow applies an event.
func follow(all reminders, e Event) reminders {
	next := maps.Clone(all)
	if next == nil {
		next = reminders{}
	}
	switch e := e.(type) {
	case Set:
		next[e.Key] = reminder{At: e.At}
	case Cancelled:
		next[e.Key] = reminder{At: all[e.Key].At, Status: cancelled}
	case Delivered:
		next[e.Key] = reminder{At: all[e.Key].At, Status: delivered}
	}
	return next
}

func (all reminders) remind(m Remind) persistence.Effect[Event] {
	if _, known := all[m.Key]; known {
		return persistence.Reply[Event](m.ReplyTo, true)
	}
	effect := persistence.Persist[Event](Set{Key: m.Key, At: m.At}).Schedule(m.Key, m.At, Due{Text: m.Text})
	return persistence.ThenReply(effect, m.ReplyTo, true)
}

// cancel refuses a reminder whose time has come, even if it is pending: a process that has been
// killed may have delivered it, without storing that.
func (all reminders) cancel(m Cancel) persistence.Effect[Event] {
	one, known := all[m.Key]
	if !known || one.Status != pending || !time.Now().Before(one.At) {
		return persistence.Reply[Event](m.ReplyTo, one.Status == cancelled)
	}
	effect := persistence.Persist[Event](Cancelled{Key: m.Key}).Cancel(m.Key)
	return persistence.ThenReply(effect, m.ReplyTo, true)
}

func (all reminders) pending() []string {
	keys := []string{}
	for key, one := range all {
		if one.Status == pending {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
