package metadata

import (
	"sync/atomic"
	"time"
)

// A Request is the request of an ask on its way: until when its ask waits, and whether it still
// does. It travels in the [Metadata] of the message. On its own node, asker and actors share one;
// to another node goes the time that is left, so that clocks need not agree.
//
// An ask costs one store with a memory barrier for it, when the asker begins to sleep: until then
// the fields are written plainly, because nobody else has the request yet, or not at all.
type Request struct {
	ends  int64  // see Ends
	all   uint32 // how long the ask waits, in units; 0 if unknown
	state atomic.Uint32
}

// The bits of the state of a request.
const (
	requestTaken     = 1 << iota // an actor may have handled it, or may be about to
	requestShared                // several actors have it
	requestOver                  // the ask has ended without a reply
	requestFar                   // the ask is on another node, which does not say that it has ended
	requestAway                  // another node may have it
	requestSealed                // it is inside the message: the message itself is no request
	requestExplained             // its ask knows why it waits
)

const unit = 16 * time.Microsecond

// time.Since costs half of time.Now.
var epoch = time.Now()

// With it, Now is positive in the virtual time of testing/synctest as well, which begins in the
// year 2000.
const before = 100 * 365 * 24 * time.Hour

// Now is the clock of requests. It is positive.
func Now() time.Duration { return time.Since(epoch) + before }

// At returns the time of t on that clock.
func At(t time.Time) time.Duration {
	if t == t.Round(0) { //nolint:revive,staticcheck // without a monotonic reading it may be of another clock
		return Now() + time.Until(t)
	}
	return t.Sub(epoch) + before
}

// Arrived returns a request of another node, whose ask waits for so long from now on.
func Arrived(left time.Duration) *Request {
	r := new(Request)
	r.state.Store(requestFar)
	r.ends, r.all = max(int64(Now()+left), 1), inUnits(left)
	return r
}

// Within says that the ask waits for d, which is positive, from about now on. Nobody else has the
// request yet. [Request.Begun] follows.
func (r *Request) Within(d time.Duration) { r.ends, r.all = -int64(d), inUnits(d) }

// EndsAt says likewise when the ask ends.
func (r *Request) EndsAt(at time.Duration) { r.ends = max(int64(at), 1) }

// Begun says when the ask began.
func (r *Request) Begun(at time.Duration) {
	switch ends := time.Duration(r.ends); { // only the asker writes it
	case ends < 0:
		atomic.StoreInt64(&r.ends, int64(at-ends))
	case ends > 0:
		atomic.StoreUint32(&r.all, inUnits(ends-at))
	}
}

func inUnits(d time.Duration) uint32 { return uint32(min(max(d/unit, 1), 1<<32-1)) } //nolint:gosec // just bounded

// Ends returns when the ask ends; false if it waits without end.
func (r *Request) Ends() (at time.Duration, ok bool) {
	ends := time.Duration(atomic.LoadInt64(&r.ends))
	if ends < 0 {
		return Now() - ends, true
	}
	return ends, ends > 0
}

// Left returns how much time is left at a time, of how much in all. It returns false without an
// end, and for an ask that has just begun.
func (r *Request) Left(now time.Duration) (left, all time.Duration, ok bool) {
	ends := time.Duration(atomic.LoadInt64(&r.ends))
	return ends - now, time.Duration(atomic.LoadUint32(&r.all)) * unit, ends > 0
}

// Its ask ends when the ask of r does. It has the bit seal or not, and is nil for nil. Whether the
// ask has ended before it does not know.
func (r *Request) sealed(seal uint32) *Request {
	if r == nil {
		return nil
	}
	ends, _ := r.Ends()
	copied := &Request{ends: int64(ends), all: atomic.LoadUint32(&r.all)}
	copied.state.Store(requestFar | seal)
	return copied
}

// Sealed reports whether it is inside the message, see [Metadata.Sealed].
func (r *Request) Sealed() bool { return r.state.Load()&requestSealed != 0 }

// Take reports whether the request may be handled now: its ask still waits. It looks at the clock
// only for an ask of another node.
func (r *Request) Take() bool { return r.take(requestTaken) }

// TakeAway is Take for a request that goes to another node.
func (r *Request) TakeAway() bool { return r.take(requestTaken | requestAway) }

// Away reports whether the request has gone to another node.
func (r *Request) Away() bool { return r.state.Load()&requestAway != 0 }

func (r *Request) take(bits uint32) bool {
	was := r.state.Or(bits)
	if was&requestSealed != 0 {
		return true
	}
	return was&requestOver == 0 && (was&requestFar == 0 || !r.late())
}

func (r *Request) late() bool {
	ends := atomic.LoadInt64(&r.ends)
	return ends > 0 && int64(Now()) >= ends
}

// Keep says that the actor which has taken the request has not handled it, and keeps it for later.
func (r *Request) Keep() { r.state.And(^uint32(requestTaken | requestAway)) }

// Share says that several actors have the request.
func (r *Request) Share() { r.state.Or(requestShared) }

// Shared reports whether several actors have the request.
func (r *Request) Shared() bool { return r.state.Load()&requestShared != 0 }

// GiveUp says that the ask has ended without a reply. It reports whether the request is withdrawn:
// it has not been handled, and will not be.
func (r *Request) GiveUp() (withdrawn bool) {
	return r.state.Or(requestOver)&(requestTaken|requestShared) == 0
}

// Explain notes that its ask has been told why it waits or, for false, that it does not any more.
// It reports whether that is new.
func (r *Request) Explain(waits bool) (changed bool) {
	switch was := r.state.Load()&requestExplained != 0; {
	case was == waits:
	case waits:
		return r.state.Or(requestExplained)&requestExplained == 0
	default:
		return r.state.And(^uint32(requestExplained))&requestExplained != 0
	}
	return false
}

// Over reports whether the ask has ended without a reply, by its own account or by the clock.
func (r *Request) Over() bool { return r.state.Load()&requestOver != 0 || r.late() }
