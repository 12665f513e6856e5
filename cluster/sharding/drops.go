package sharding

import (
	"errors"
	"strings"
	"sync/atomic"

	"github.com/understudy-go/understudy/actor"
)

// dropReasons are the reasons by which dropped messages are counted, apart from all others.
var dropReasons = [...]error{ErrBufferFull, ErrEntityFailed, ErrMismatch, ErrNoDaemon, ErrStopped, actor.ErrWithdrawn}

// drops counts dropped messages by reason; the last element counts other reasons.
type drops [len(dropReasons) + 1]atomic.Uint64

func (d *drops) add(why error) {
	at := len(dropReasons)
	for i, reason := range dropReasons {
		if errors.Is(why, reason) {
			at = i
			break
		}
	}
	d[at].Add(1)
}

// byReason returns the numbers that are not 0. The key nil counts other reasons.
func (d *drops) byReason() map[error]uint64 {
	all := map[error]uint64{}
	for i := range d {
		if n := d[i].Load(); n > 0 {
			all[reasonAt(i)] = n
		}
	}
	return all
}

func reasonAt(i int) error {
	if i < len(dropReasons) {
		return dropReasons[i]
	}
	return nil
}

// reasonText is the text of a reason in status pages and metrics.
func reasonText(reason error) string {
	if reason == nil {
		return "other"
	}
	_, text, _ := strings.Cut(reason.Error(), ": ")
	return text
}

// droppedByReason has the numbers of all reasons, by their text.
func droppedByReason(byReason map[error]uint64) map[string]uint64 {
	all := map[string]uint64{}
	for i := range len(dropReasons) + 1 {
		all[reasonText(reasonAt(i))] = byReason[reasonAt(i)]
	}
	return all
}
