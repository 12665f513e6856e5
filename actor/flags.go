package actor

import "sync/atomic"

// flags are states of a core that others may look at without its mutex, on the cache line that each
// sender reads anyway.
type flags struct{ bits atomic.Uint32 }

const (
	ended    uint32 = 1 << iota // its context is done
	bypassed                    // messages go to extras.bypass; set and cleared under core.mu
	resting                     // it takes no more messages, see returning; set under core.mu
	inUse                       // it has handled messages, see returning
	exported                    // it is an ask that other nodes can reach; set under core.mu, before it is over
)

func (f *flags) has(flag uint32) bool { return f.bits.Load()&flag != 0 }

func (f *flags) set(flag uint32) { f.bits.Or(flag) }

func (f *flags) clear(flag uint32) { f.bits.And(^flag) }
