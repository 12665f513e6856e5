package actor

import "sync/atomic"

// flags are states of a core that others may look at without its mutex, on the cache line that each
// sender reads anyway.
type flags struct{ bits atomic.Uint32 }

const (
	ended      uint32 = 1 << iota // its context is done
	bypassed                      // messages go to extras.bypass; set and cleared under core.mu
	resting                       // it takes no more messages, see returning; set under core.mu
	inUse                         // it has handled messages, see returning
	blocking                      // its mailbox may block; never changes
	exported                      // it is an ask that other nodes can reach; set under core.mu, before it is over
	abandoned                     // it is in no tree any more, see returning.Abandon; set under core.mu
	notStarted                    // its first behavior has not run; set before it is in the tree

	roundAt = 8 // the bits from here on are the round in which it was used last, see returning
)

func (f *flags) has(flag uint32) bool { return f.bits.Load()&flag != 0 }

func (f *flags) set(flag uint32) { f.bits.Or(flag) }

func (f *flags) clear(flag uint32) { f.bits.And(^flag) }

func (f *flags) round() uint32 { return f.bits.Load() >> roundAt }

func (f *flags) note(flag, round uint32) {
	for {
		old := f.bits.Load()
		now := old&(1<<roundAt-1) | flag | round<<roundAt
		if now == old || f.bits.CompareAndSwap(old, now) {
			return
		}
	}
}
