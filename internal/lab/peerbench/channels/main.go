// Command channels runs the scenarios of peerbench on goroutines and channels.
package main

import (
	"runtime"
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/lab/peerbench/bench"
)

func main() {
	bench.Main(map[string]bench.Contender{
		"default": contender{encode: bare, decode: bare},
		"CBOR":    contender{encode: encode, decode: decode},
	})
}

// contender uses no library: goroutines read channels and, over TCP, frames with a length, whose
// content is encoded and decoded. A runtime can hardly be faster. It has neither supervision nor
// unbounded mailboxes.
type contender struct{ encode, decode func([]byte) []byte }

const channelSize = 1024

func (contender) Tell(r *bench.Run, senders int) {
	bench.Tell(r, senders, sink, func(to chan bench.Small) func(bench.Small) {
		return func(m bench.Small) { to <- m }
	})
}

// sink returns a channel whose messages a goroutine passes to k.
func sink(k *bench.Sink) chan bench.Small {
	c := make(chan bench.Small, channelSize)
	go func() {
		for m := range c {
			k.Got(m)
		}
	}()
	return c
}

func sendAll(to []chan bench.Small, n int) {
	for i := range n {
		to[i%len(to)] <- bench.Small{A: i / len(to)}
	}
}

func (contender) PingPong(r *bench.Run, pairs int) {
	all := bench.NewTally(pairs)
	play := func(in <-chan int, out chan<- int) {
		for left := range in {
			if left == 0 {
				all.Arrived()
				continue
			}
			out <- left - 1
		}
	}
	starts := make([]chan int, pairs)
	for i := range starts {
		a, b := make(chan int, 1), make(chan int, 1)
		go play(a, b)
		go play(b, a)
		starts[i] = a
	}
	r.Start()
	for i, share := range bench.Split(r.N, pairs) {
		starts[i] <- max(share-1, 0)
	}
	all.Wait()
	r.Stop()
}

func (contender) FanOut(r *bench.Run, actors int) { bench.FanOut(r, actors, sink, sendAll) }

func (contender) Block(r *bench.Run) { bench.Block(r, sink, sendAll) }

func (contender) Quiet(r *bench.Run, compute time.Duration) {
	bench.Quiet(r, compute, func(handle func() bool) chan bench.Small {
		inbox := make(chan bench.Small, channelSize)
		go func() {
			for m := range inbox {
				if handle() {
					inbox <- m
				}
			}
		}()
		return inbox
	}, func(to chan bench.Small) { to <- bench.Small{} })
}

// A call is a question with the channel for its answer.
type call struct {
	n     int
	reply chan int
}

func (contender) Ask(r *bench.Run, askers int) {
	calls := make(chan call, channelSize)
	go func() {
		for c := range calls {
			c.reply <- c.n + 1
		}
	}()
	replies := sync.Pool{New: func() any { return make(chan int, 1) }}
	bench.Ask(r, askers, func(i int) int {
		reply := replies.Get().(chan int)
		calls <- call{i, reply}
		defer replies.Put(reply)
		return <-reply
	})
}

func (contender) Spawn(r *bench.Run) {
	bench.SpawnAll(r, idle)
	r.Stop()
}

func (contender) Idle(r *bench.Run) {
	inboxes := bench.SpawnAll(r, idle)
	r.StopLive()
	runtime.KeepAlive(inboxes)
}

func idle(started *bench.Tally) func() chan bench.Small {
	return func() chan bench.Small {
		inbox := make(chan bench.Small, 1)
		go func() {
			started.Arrived()
			for range inbox {
			}
		}()
		return inbox
	}
}

func (contender) SpawnAndStop(r *bench.Run) {
	bench.SpawnAndStop(r, func(started, ended *bench.Tally) func(int) {
		stops := make([]chan struct{}, r.N)
		return func(n int) {
			for i := range n {
				stop := make(chan struct{})
				stops[i] = stop
				go func() {
					started.Arrived()
					<-stop
					ended.Arrived()
				}()
			}
			if n == 0 {
				for _, stop := range stops {
					close(stop)
				}
			}
		}
	})
}

func (contender) Skynet(r *bench.Run) {
	var grow func(leaves, number int, up chan<- int)
	grow = func(leaves, number int, up chan<- int) {
		if leaves == 1 {
			up <- number
			return
		}
		in, sum, size := make(chan int, bench.SkynetBranches), 0, leaves/bench.SkynetBranches
		for i := range bench.SkynetBranches {
			go grow(size, number+i*size, in)
		}
		for range bench.SkynetBranches {
			sum += <-in
		}
		up <- sum
	}
	bench.Skynet(r, func(sum chan<- int) func(int) {
		return func(leaves int) { go grow(leaves, 0, sum) }
	})
}

func (contender) Timers(r *bench.Run) {
	bench.Timers(r, func(fired *bench.Tally) chan int {
		inbox := make(chan int, 1)
		go func() {
			for range inbox {
				fired.Arrived()
			}
		}()
		return inbox
	}, func(to chan int, timers int) {
		for k := range timers {
			time.AfterFunc(bench.TimerDelay(k, timers), func() { to <- k })
		}
	})
}
