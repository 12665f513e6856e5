package sharding

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/peers"
	"github.com/understudy-go/understudy/remote"
)

// unavailable explains why an ask of an entity got no reply, see [extension.OnAskTimeout].
func (h *hub) unavailable(path string) error {
	r, name := h.regionAt(path)
	if r == nil {
		return nil
	}
	if id, ok := unescape(name); ok {
		if shard, there := r.shardOf(id); there {
			l := r.lanes[shard]
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.unavailable()
		}
	}
	return nil
}

// unavailable returns why letters do not reach their entities now, as far as this node knows it, or
// nil. mu is held.
func (l *lane) unavailable() error {
	if why := l.obstacle(); why != "" {
		return l.says(why)
	}
	return nil
}

func (l *lane) obstacle() string {
	if l.residents != nil {
		switch {
		case !l.residents.takes():
			return "leaves this node"
		case !l.letters.Clear():
			return "waits for the messages that its former home returns"
		}
		return ""
	}
	if l.opens != nil {
		return "starts, and waits for the messages that its former home has left"
	}
	post := l.region.hub.post
	switch home, _ := l.region.hub.tableHome(l.region.name, l.shard); {
	case home == remote.NodeID{} && l.last == remote.NodeID{}:
		return "has no home yet" + l.region.leaseless()
	case home == remote.NodeID{}:
		return "has no home; the last was " + l.last.Address + l.region.leaseless()
	case home == post.Self():
		return "has its home on this node, and starts"
	case !l.member(home):
		return fmt.Sprintf("had its home on %s, which has been removed; it starts elsewhere", home.Address)
	case !post.Reaches(home):
		return fmt.Sprintf("has its home on %s, which cannot be reached; it moves when that node is removed", home.Address)
	case !l.letters.Clear():
		return "moves to " + home.Address
	}
	return ""
}

// leaseless says why this node cannot be the home of any shard, if it has no lease.
func (r *region) leaseless() string {
	if why := r.tenure.lacks(); why != "" {
		return ", and this node has no lease for the type: " + why
	}
	return ""
}

// explain tells the ask of a letter that begins to wait why it does. mu is held.
func (l *lane) explain(of letter) {
	extension.Explain(l.region.system, of.Message, l.says(l.waitsFor()))
}

func (l *lane) waitsFor() string { return cmp.Or(l.obstacle(), "starts") }

// says returns the error with what is in the way, since when, and until when if a node has died. mu
// is held.
func (l *lane) says(why string) error {
	failover, _ := extension.Get[peers.Failover](l.region.system)
	err := fmt.Errorf("%w: shard %d of type %q %s%s", ErrUnavailable, l.shard, l.region.name, why, failover.Since(l.away, l.region.sourcing.agreed.Load()))
	if l.cause != nil {
		err = fmt.Errorf("%w: %w", err, l.cause)
	}
	return err
}

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
