package cluster

import (
	"reflect"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/statuspage"
)

func (n *statusSource) DeadLetters() statuspage.DeadLetters {
	all := statuspage.DeadLetters{Time: time.Now(), Letters: []statuspage.DeadLetter{}}
	for _, d := range actorhook.KeptDeadLetters(n.System) {
		all.Letters = append(all.Letters, statuspage.DeadLetter{
			Recipient: d.Recipient, Sender: d.Sender, Type: typeText(d.Type), Reason: actorhook.ReasonText(d.Reason), Text: d.Text,
			Count: d.Count, First: d.First, Last: d.Last,
		})
	}
	all.ByReason = deadLettersByReason(n.System) // after the letters, so that each has a reason in it
	return all
}

func typeText(t reflect.Type) string {
	if t == nil {
		return "nil"
	}
	return t.String()
}

func deadLettersByReason(s *actor.System) map[string]uint64 {
	all := map[string]uint64{}
	for reason, count := range s.DeadLettersByReason() {
		all[actorhook.ReasonText(reason)] = count
	}
	return all
}
