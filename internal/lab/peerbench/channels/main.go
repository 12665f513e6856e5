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
	c := make(chan bench.Small, channelSize)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range r.N {
			<-c
		}
	}()
	r.Start()
	r.Senders(senders, func(i int) { c <- bench.Small{A: i, B: i} })
	<-done
	r.Stop()
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

func (contender) FanOut(r *bench.Run, actors int) {
	all := bench.NewTally(min(actors, r.N))
	inboxes := make([]chan bench.Small, actors)
	for i, share := range bench.Split(r.N, actors) {
		inboxes[i] = make(chan bench.Small, channelSize)
		go func() {
			for range share {
				<-inboxes[i]
			}
			if share > 0 {
				all.Arrived()
			}
		}()
	}
	r.Start()
	for i := range r.N {
		inboxes[i%actors] <- bench.Small{A: i, B: i}
	}
	all.Wait()
	r.Stop()
}

func (contender) Block(r *bench.Run) {
	all := bench.NewTally(r.N)
	inboxes := make([]chan bench.Small, bench.BlockingActors)
	for i := range inboxes {
		inboxes[i] = make(chan bench.Small, channelSize)
		go func() {
			for range inboxes[i] {
				time.Sleep(bench.BlockingTime)
				all.Arrived()
			}
		}()
	}
	r.Start()
	for i := range r.N {
		inboxes[i%len(inboxes)] <- bench.Small{A: i, B: i}
	}
	all.Wait()
	r.Stop()
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
	r.Start()
	r.Askers(askers, func(i int) int {
		reply := replies.Get().(chan int)
		calls <- call{i, reply}
		defer replies.Put(reply)
		return <-reply
	})
	r.Stop()
}

func (c contender) Spawn(r *bench.Run) {
	c.spawnAll(r)
	r.Stop()
}

func (c contender) Idle(r *bench.Run) {
	inboxes := c.spawnAll(r)
	r.StopLive()
	runtime.KeepAlive(inboxes)
}

// spawnAll returns the channels, so that they are not collected.
func (contender) spawnAll(r *bench.Run) []chan bench.Small {
	all := bench.NewTally(r.N)
	inboxes := make([]chan bench.Small, r.N)
	r.Start()
	for i := range inboxes {
		inbox := make(chan bench.Small, 1)
		inboxes[i] = inbox
		go func() {
			all.Arrived()
			for range inbox {
			}
		}()
	}
	all.Wait()
	return inboxes
}

func (contender) SpawnAndStop(r *bench.Run) {
	started, ended := bench.NewTally(r.N), bench.NewTally(r.N)
	stops := make([]chan struct{}, r.N)
	r.Start()
	for i := range stops {
		stop := make(chan struct{})
		stops[i] = stop
		go func() {
			started.Arrived()
			<-stop
			ended.Arrived()
		}()
	}
	started.Wait()
	for _, stop := range stops {
		close(stop)
	}
	ended.Wait()
	r.Stop()
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
	sum := make(chan int)
	r.Start()
	go grow(r.N, 0, sum)
	bench.CheckSkynet(r.N, <-sum)
	r.Stop()
}

func (contender) Timers(r *bench.Run) {
	all := bench.NewTally(r.N)
	inboxes := make([]chan int, bench.TimerActors)
	for i := range inboxes {
		inboxes[i] = make(chan int, 1)
		go func() {
			for range inboxes[i] {
				all.Arrived()
			}
		}()
	}
	r.Start()
	for i, share := range bench.Split(r.N, bench.TimerActors) {
		for k := range share {
			time.AfterFunc(bench.TimerDelay(k, share), func() { inboxes[i] <- k })
		}
	}
	all.Wait()
	r.StopProcessor()
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
