package handover

import (
	"time"

	"github.com/understudy-go/understudy/singleton/lease"
)

// A simStore keeps one lease, and judges its time by its own clock.
type simStore struct {
	rate    float64
	holder  *simKeeper
	number  int // of its request
	token   uint64
	expires time.Duration
}

func (s *sim) storeTime() time.Duration { return time.Duration(float64(s.now) * s.store.rate) }

// take returns the token of k if it holds the lease now, 0 if another holder does.
func (s *sim) take(k *simKeeper, number int, floor uint64) uint64 {
	st := &s.store
	if st.holder != nil && st.holder != k && s.storeTime() < st.expires {
		return 0
	}
	if st.holder != k || s.storeTime() >= st.expires || st.token <= floor {
		st.token = max(st.token, floor) + 1
	}
	st.holder, st.number, st.expires = k, number, s.storeTime()+simLeaseTTL
	return st.token
}

func (s *sim) renew(k *simKeeper, token uint64) bool {
	st := &s.store
	if st.holder != k || st.token != token || s.storeTime() >= st.expires {
		return false
	}
	st.expires = s.storeTime() + simLeaseTTL
	return true
}

// giveBack frees what k got by requests up to a number.
func (s *sim) giveBack(k *simKeeper, number int) {
	if s.store.holder == k && s.store.number <= number {
		s.store.holder = nil
	}
}

// steal passes the lease to nobody of the cluster for some time, and returns its token.
func (s *sim) steal(lasts time.Duration) uint64 {
	st := &s.store
	st.token++
	st.holder, st.number, st.expires = &simKeeper{token: st.token}, 0, s.storeTime()+lasts
	return st.token
}

// A simKeeper is the lease of one process: valid until some time after the last good
// request was sent, by this node's clock. See package lease.
type simKeeper struct {
	node   *simNode
	token  uint64
	until  time.Duration // 0 when it is not held
	number int           // of what the keeper was asked for last
}

// bound is how long the holder counts on the lease.
func (k *simKeeper) bound() time.Duration {
	if k.node.sim.plan.careless {
		return simLeaseTTL
	}
	drift := max(0.05, k.node.sim.plan.drift)
	return time.Duration(float64(simLeaseTTL) * (1 - 2*drift))
}

func (k *simKeeper) valid() bool { return k.until > 0 && k.node.local() < k.until }

// acquire asks for the lease. Known is false when nobody knows.
func (k *simKeeper) acquire(floor uint64, back func(held, known bool)) {
	n, sent, token := k.node, k.node.local(), uint64(0)
	k.number++
	number := k.number
	n.call(func() { token = n.sim.take(k, number, floor) }, func(ok bool) {
		switch {
		case k.number != number: // released meanwhile
			back(false, false)
		case !ok || token > 0 && n.local()-sent >= k.bound():
			k.release(func(bool) {})
			back(false, false)
		case token == 0:
			back(false, true)
		default:
			k.token, k.until = token, sent+k.bound()
			n.sim.note(n, "holds the lease, token %d", token)
			k.watch(number)
			k.keep(number, simLeaseTTL/4)
			back(true, true)
		}
	})
}

// watch loses the lease when it has not been renewed in time.
func (k *simKeeper) watch(number int) {
	k.node.in(k.until-k.node.local(), func() {
		switch {
		case k.number != number || k.until == 0:
		case k.valid():
			k.watch(number)
		default:
			k.lose()
		}
	})
}

// keep renews the lease after a while.
func (k *simKeeper) keep(number int, after time.Duration) {
	n := k.node
	n.in(after, func() {
		if k.number != number || !k.valid() {
			return
		}
		sent, renewed := n.local(), false
		n.call(func() { renewed = n.sim.renew(k, k.token) }, func(ok bool) {
			switch {
			case k.number != number || k.until == 0:
			case !ok:
				k.keep(number, simLeaseTTL/15)
			case !renewed:
				k.lose()
			default:
				k.until = max(k.until, sent+k.bound())
				k.keep(number, simLeaseTTL/4)
			}
		})
	})
}

func (k *simKeeper) lose() {
	k.until = 0
	k.number++
	k.node.sim.note(k.node, "has lost the lease")
	k.node.in(0, func() {
		if !k.valid() {
			k.node.happened(LeaseLost{lease.ErrExpired})
		}
	})
}

// release gives the lease back, again and again until that is certain or it has expired;
// ok is false when that takes long.
func (k *simKeeper) release(back func(ok bool)) {
	k.until = 0
	k.number++
	k.giveBack(k.number, 6, back)
}

func (k *simKeeper) giveBack(number, tries int, back func(ok bool)) {
	k.node.call(func() { k.node.sim.giveBack(k, number) }, func(ok bool) {
		if !ok && tries > 1 {
			k.giveBack(number, tries-1, func(bool) {})
		}
		back(ok)
	})
}
