package singleton

import "github.com/understudy-go/understudy/actor"

// Of the messages of the protocol only those that carry one of the user become dead
// letters, as that. The others are asked again, or nobody needs them any more.
var (
	_ actor.Carrier = wireDeliver{}
	_ actor.Carrier = wireGiveBack{}
)

// Carried implements [actor.Carrier].
func (m wireDeliver) Carried(s *actor.System) (string, any, bool) {
	return carried(s, m.Name, m.Payload)
}

// Carried implements [actor.Carrier].
func (m wireGiveBack) Carried(s *actor.System) (string, any, bool) {
	return carried(s, m.Name, m.Payload)
}

func carried(s *actor.System, name string, p actor.Payload) (string, any, bool) {
	msg, err := p.Unpack(s)
	if err != nil {
		msg = p
	}
	return "singleton " + name, msg, true
}

// nothing is the part of a message that says that it carries nothing.
type nothing struct{}

// Carried implements [actor.Carrier].
func (nothing) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (wireRequest) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (wireGrant) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (wireRecall) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (wireRecalled) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (wireFarewell) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (wireFarewellHeard) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (wireSettle) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (wireSettled) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier]. The sender has kept the message.
func (wireTold) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (wireCheck) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (wireAck) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (wireMarks) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (instanceBegun) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (viewed) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (fenceHeld) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (drainAsked) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (ticked) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (leaseAnswered) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (leaseLost) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (leaseReleased) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (claimed) Carried(*actor.System) (string, any, bool) { return "", nil, false }

// Carried implements [actor.Carrier].
func (instanceEnded) Carried(*actor.System) (string, any, bool) { return "", nil, false }
