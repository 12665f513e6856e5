// Command channels runs the scenarios of peerbench on goroutines and channels.
package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/understudy-go/understudy/internal/lab/peerbench/bench"
)

func main() {
	bench.Main(map[string]bench.Contender{"default": contender{}})
}

// contender uses no library: goroutines read channels and, over TCP, frames with a length. A
// runtime can hardly be faster. It has neither supervision nor unbounded mailboxes.
type contender struct{}

const channelSize = 1024

func (contender) Tell(r *bench.Run, senders int) {
	bench.Tell(r, senders, sink, func(to chan bench.Small) func(int) {
		return func(i int) { to <- bench.Small{A: i, B: i} }
	})
}

// sink returns a channel with a reader that calls done with the last of n messages.
func sink(n int, done func()) chan bench.Small {
	c := make(chan bench.Small, channelSize)
	go func() {
		for range n {
			<-c
		}
		if n > 0 {
			done()
		}
	}()
	return c
}

func sendAll(to []chan bench.Small, n int) {
	for i := range n {
		to[i%len(to)] <- bench.Small{A: i, B: i}
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

func (contender) Block(r *bench.Run) {
	bench.Block(r, func(handle func()) chan bench.Small {
		inbox := make(chan bench.Small, channelSize)
		go func() {
			for range inbox {
				handle()
			}
		}()
		return inbox
	}, sendAll)
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

// pipe returns the two ends of a connection over the loopback interface.
func pipe() (dialled, accepted net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	if dialled, err = net.Dial("tcp", l.Addr().String()); err == nil {
		accepted, err = l.Accept()
	}
	if err != nil {
		panic(err)
	}
	return dialled, accepted
}

const (
	wireBuffer = 64 << 10
	flushEvery = 256 // messages: the buffer of a connection does not fill up before
)

func (contender) RemoteTell(r *bench.Run) {
	from, to := pipe()
	w := bench.NewWindow(r.N)
	go func() {
		in := bufio.NewReaderSize(to, wireBuffer)
		frame := make([]byte, 4+bench.PayloadSize)
		for range r.N {
			if _, err := io.ReadFull(in, frame); err != nil {
				panic(err)
			}
			w.Got()
		}
	}()
	out := bufio.NewWriterSize(from, wireBuffer)
	frame := binary.BigEndian.AppendUint32(nil, bench.PayloadSize)
	frame = append(frame, make([]byte, bench.PayloadSize)...)
	sent := 0
	r.Start()
	w.Send(func() {
		if _, err := out.Write(frame); err != nil {
			panic(err)
		}
		if sent++; sent%flushEvery == 0 || sent == r.N {
			if err := out.Flush(); err != nil {
				panic(err)
			}
		}
	})
	r.Stop()
}

func (contender) RemoteAsk(r *bench.Run, askers int) {
	from, to := pipe()
	go echo(to)
	var mu sync.Mutex // guards waiting, and keeps it in the order of the wire
	waiting := make(chan chan int, askers)
	go func() {
		for {
			n := read(from)
			(<-waiting) <- n
		}
	}()
	replies := sync.Pool{New: func() any { return make(chan int, 1) }}
	r.Start()
	r.Askers(askers, func(i int) int {
		reply := replies.Get().(chan int)
		defer replies.Put(reply)
		mu.Lock()
		waiting <- reply
		write(from, i)
		mu.Unlock()
		return <-reply
	})
	r.Stop()
}

// echo answers numbers.
func echo(conn net.Conn) {
	for {
		write(conn, read(conn)+1)
	}
}

func write(w io.Writer, n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	if _, err := w.Write(b[:]); err != nil {
		panic(err)
	}
}

func read(r io.Reader) int {
	var b [8]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		panic(err)
	}
	return int(binary.BigEndian.Uint64(b[:]))
}
