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
}

// Same reports whether d and other differ only in their number and time.
func (d DeadLetter) Same(other DeadLetter) bool {
	return d.Type == other.Type && d.Reason == other.Reason && //nolint:errorlint // both are of one list
		d.Recipient == other.Recipient && d.Sender == other.Sender && d.Text == other.Text
}
