package workflow

import (
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/golden"
)

func TestRecordsOfAllVersionsAreRead(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 30, 0, 5, time.UTC)
	v := value{Type: "shop.order", Data: []byte{0x82, 0x07, 0xf6}}
	parent := address{Type: "basket", ID: "7", Wait: "child:order"}
	golden.Values(t,
		event{
			What: finished, Name: "charge", Value: v, At: at, Until: at.Add(time.Hour), Attempt: 3, Err: "declined", Signal: "approval", Number: 4, State: Cancelled,
			Tag: "eu", Parent: parent, Trace: []byte{1, 2, 3}, Undo: []string{"release"}, By: "ann", Why: "a test",
		},
		state{
			Begun: at, Input: v, Tag: "eu", Parent: parent, Trace: []byte{1, 2, 3},
			Outcomes: []outcome{{Name: "reserve", Value: v, Attempts: 2, At: at}},
			Tries:    []try{{Name: "charge", Attempt: 3, Err: "declined", Next: at}},
			Waits:    []wait{{Name: "approval#1", Until: at, Signal: "approval"}},
			Signals:  []signal{{Name: "approval", Number: 4, Value: v}},
			Number:   4, Undo: []string{"release"}, Redone: []redo{{Name: "reserve", Times: 1}},
			Turned: turn{State: Failed, Err: v, At: at}, Hold: hold{Count: 2, Err: "panic", Until: at}, End: end{State: Failed, Out: v, At: at},
			Told: true, Freed: true,
		},
		tick{Timer: timerWake},
	)
}
