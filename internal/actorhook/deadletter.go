package actorhook

import (
	"reflect"
	"strings"
	"time"
)

// KeptDeadLetters returns descriptions of the last dead letters of system, a *actor.System, newest
// first. It may be called from any goroutine, also after the end of the system. Each call returns a
// copy.
var KeptDeadLetters func(system any) []DeadLetter

// KeepMessages returns the actor.Option of a system that keeps the messages of its last dead
// letters, at most most, until they are sent again or discarded.
var KeepMessages func(most int) any

// Resend sends the kept message with a number again, to the path that to returns for its recipient,
// and waits for [ResendPatience] at most for what becomes of it. It fails, and sends nothing, if
// system keeps no such message or cannot decode it.
var Resend func(system any, number uint64, to func(recipient string) string) (Resent, error)

// Discard removes the kept message with a number. It fails if system keeps no such message.
var Discard func(system any, number uint64) error

// ResendPatience is how long Resend waits for the handler of the message, or for its death.
const ResendPatience = 100 * time.Millisecond

// A Resent says what has become of a message that was sent again.
type Resent struct {
	To     string // path
	Here   bool   // To is an actor of this node, which has got the message
	Failed error  // the failure of its handler
	Dead   error  // the reason for which it is a dead letter again, or nil
	Number uint64 // of the new dead letter, 0 if its message is not kept
}

// ToSingleton precedes the name of a singleton in the recipient of a dead letter that was on its
// way between two managers.
const ToSingleton = "singleton "

// DeadLetterReasons are the errors of package actor under which dead letters are counted. All
// others count under nil.
var DeadLetterReasons []error

// ReasonText returns the text of a reason without the name of its package, or "other" for nil. It
// is the key under which programs find the number.
func ReasonText(reason error) string {
	if reason == nil {
		return "other"
	}
	_, text, _ := strings.Cut(reason.Error(), ": ")
	return text
}

// A DeadLetter describes a message that could not be delivered, or several in a row that differ
// only in their time.
type DeadLetter struct {
	Recipient   string       // path; "" for the zero ActorRef
	Sender      string       // path; "" if it is not known
	Type        reflect.Type // of the message; nil for a nil message
	Reason      error        // the one under which it is counted, nil if package actor does not declare it
	Text        string       // of the error that has Reason in it, "" if it is Reason itself
	Count       uint64       // at least 1
	First, Last time.Time

	// The rest is zero for a system that keeps no messages.
	Numbers []uint64 // of the messages that are kept, the oldest first
	NotKept string   // why the messages are not kept, "" if they are or were
	Asked   bool     // an ask waited for the reply
}

// Same reports whether d and other differ only in their number and time.
func (d DeadLetter) Same(other DeadLetter) bool {
	return d.Type == other.Type && d.Reason == other.Reason && //nolint:errorlint // both are of one list
		d.Recipient == other.Recipient && d.Sender == other.Sender && d.Text == other.Text &&
		d.NotKept == other.NotKept && d.Asked == other.Asked
}
