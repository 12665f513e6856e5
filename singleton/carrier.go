package singleton

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

// Of the messages of the protocol only those that carry one of the user become dead
// letters, as that. The others are asked again, or nobody needs them any more.

// Carried is for [extension.DeadLetter].
func (m wireDeliver) Carried(s *actor.System) (string, any, bool) {
	return carried(s, m.Name, m.Payload)
}

// Carried is for [extension.DeadLetter].
func (m wireGiveBack) Carried(s *actor.System) (string, any, bool) {
	return carried(s, m.Name, m.Payload)
}

func carried(s *actor.System, name string, p extension.Payload) (string, any, bool) {
	msg, err := extension.Unpack(s, p)
	if err != nil {
		msg = p
	}
	return "singleton " + name, msg, true
}

// nothing is the part of a message that says that it carries nothing.
type nothing struct{}

// Carried is for [extension.DeadLetter].
func (nothing) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireRequest) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireGrant) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireHeldUp) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireRecall) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireRecalled) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireFarewell) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireFarewellHeard) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireSettle) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireSettled) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter]. The sender has kept the message.
func (wireTold) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireCheck) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireAck) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireMarks) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireNews) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireRow) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireRecords) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireConfirm) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (wireCompare) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (instanceBegun) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (viewed) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (fenceHeld) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (drainAsked) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (ticked) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (leaseAnswered) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (leaseLost) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (leaseReleased) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (claimed) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried is for [extension.DeadLetter].
func (instanceEnded) Carried(*actor.System) (string, any, bool) { return "", nil, false }
