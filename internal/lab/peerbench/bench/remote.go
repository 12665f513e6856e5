package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
)

// A Connection leads to the actors that [Contender].Serve has spawned in another process.
type Connection struct {
	Send  func(to int, payload []byte) // to the sink of that number
	Flush func()                       // sends what Send has buffered; nil if it buffers nothing
	// Enter calls loop, where the library can ask, with a function that asks the adder.
	Enter func(loop func(ask func(n int) int))
}

// Anywhere is Enter of a [Connection] whose users ask from any goroutine.
func Anywhere(ask func(n int) int) (enter func(loop func(ask func(n int) int))) {
	return func(loop func(ask func(n int) int)) { loop(ask) }
}

// A server is the other process of a remote scenario. Its parent sends it orders, a line each, on
// its standard input. It writes reports, a line each of JSON, to its first extra file.
type server struct {
	orders io.WriteCloser
	window *window
	spent  chan cost     // what it answers stop with
	ready  chan struct{} // its answer to start
	// address is what Serve has returned.
	address string
	cmd     *exec.Cmd
	ending  atomic.Bool
}

// A report is what a server says: one of its fields.
type report struct {
	Address string `json:",omitempty"`
	Started bool   `json:",omitempty"`
	Arrived int    `json:",omitempty"`
	Spent   *cost  `json:",omitempty"`
}

const (
	orderStart   = "start"
	orderStop    = "stop"
	reportsFile  = 3
	windowSteps  = 8 // reports of a server while a whole window arrives
	windowBytes  = 16 << 20
	windowLength = 4096
)

// What a server serves takes the place of a scenario in its argument.
const (
	serve          = "serve"
	serveEntities  = "serve-entities"
	serveSingleton = "serve-singleton"
)

var servers = []string{serve, serveEntities, serveSingleton}

// remoteTell runs [Contender].Serve in another process, and sends messages of that size to its
// sinks in turn. They share a connection, which keeps the order, so a payload can be used again.
func remoteTell(c Contender, r *Run, size, sinks int) {
	dialAndTell(r, c.Dial, serve, size, sinks)
}

func dialAndTell(r *Run, dial func(address string) Connection, what string, size, sinks int) {
	w := newWindow(min(windowLength, max(windowBytes/size, 2)))
	s := r.startServer(what, r.N+sinks, sinks, w)
	conn, payload := dial(s.address), w.payloads(size)
	send := func(number int) {
		if number >= w.size && w.arrived.Load() <= int64(number-w.size) {
			conn.flush()
			w.wait(number - w.size + 1)
		}
		conn.Send(number%sinks, payload(number))
	}
	for number := range sinks { // the first one connects
		send(number)
		conn.flush()
		w.wait(number + 1)
	}
	r.Start()
	for i := range r.N {
		send(sinks + i)
	}
	conn.flush()
	w.wait(sinks + r.N)
	r.Stop()
}

// remoteAsk runs [Contender].Serve in another process, and asks its adder.
func remoteAsk(c Contender, r *Run, askers int) {
	dialAndAsk(r, c.Dial, serve, askers)
}

func dialAndAsk(r *Run, dial func(address string) Connection, what string, askers int) {
	conn := dial(r.startServer(what, r.N+1, 1, newWindow(1)).address)
	conn.Enter(func(ask func(n int) int) { ask(0) })
	askWithin(r, askers, conn.Enter)
}

func (c Connection) flush() {
	if c.Flush != nil {
		c.Flush()
	}
}

// startServer starts the other process of a run, which will be told that many messages for so many
// sinks in turn. what is one of servers.
func (r *Run) startServer(what string, messages, sinks int, w *window) *server {
	program, err := os.Executable()
	check(err)
	reports, reportsEnd, err := os.Pipe()
	check(err)
	s := &server{window: w, ready: make(chan struct{}), spent: make(chan cost), cmd: exec.Command(program, fmt.Sprintf("%s/%s/%d/%d/%d", what, r.configuration, messages, sinks, max(w.size/windowSteps, 1)))}
	s.cmd.Stderr, s.cmd.ExtraFiles = os.Stderr, []*os.File{reportsEnd}
	s.orders, err = s.cmd.StdinPipe()
	check(err)
	start := func() { check(s.cmd.Start()) }
	if r.apart {
		apart(start)
	} else {
		start()
	}
	check(reportsEnd.Close())
	in := json.NewDecoder(reports)
	var first report
	check(in.Decode(&first))
	s.address = first.Address
	go s.listen(in)
	r.others = append(r.others, s)
	return s
}

func (s *server) listen(in *json.Decoder) {
	for {
		var said report
		err := in.Decode(&said)
		switch {
		case err != nil && s.ending.Load():
			return
		case err != nil:
			fail("the other process: %v", err)
		case said.Started:
			s.ready <- struct{}{}
		case said.Spent != nil:
			s.spent <- *said.Spent
		default:
			s.window.confirm(said.Arrived)
		}
	}
}

// endOthers ends the other processes.
func (r *Run) endOthers() {
	for _, s := range r.others {
		s.ending.Store(true)
		check(s.orders.Close())
		check(s.cmd.Wait())
	}
}

// startOthers begins the measurement in the other processes.
func (r *Run) startOthers() {
	for _, s := range r.others {
		s.order(orderStart)
		<-s.ready
	}
}

// stopOthers returns what the other processes have spent.
func (r *Run) stopOthers() (all cost) {
	for _, s := range r.others {
		s.order(orderStop)
		all = all.plus(<-s.spent)
	}
	return all
}

func (s *server) order(what string) {
	_, err := fmt.Fprintln(s.orders, what)
	check(err)
}

// serveRun is the server's side. Its arguments are how many messages will arrive, for how many
// sinks, and how often to report them. It returns when there are no more orders.
func serveRun(what string, c Contender, args []string) error {
	out := json.NewEncoder(os.NewFile(reportsFile, "reports"))
	say := func(r report) { check(out.Encode(r)) }
	all := crowd{report: func(n int) { say(report{Arrived: n}) }}
	if _, err := fmt.Sscanf(strings.Join(args, " "), "%d %d %d", &all.total, &all.sinks, &all.every); err != nil {
		return fmt.Errorf("%q: a server needs three numbers: %w", args, err)
	}
	say(report{Address: begin(what, c, &all)})
	r := &Run{N: 1}
	for orders := bufio.NewScanner(os.Stdin); orders.Scan(); {
		switch orders.Text() {
		case orderStart:
			r.Start()
			say(report{Started: true})
		case orderStop:
			r.Stop()
			say(report{Spent: &cost{r.result.CPU, r.result.Allocs, r.result.Bytes}})
		}
	}
	return nil
}

// begin starts what a server serves, and returns its address.
func begin(what string, c Contender, all *crowd) (address string) {
	switch what {
	case serveEntities:
		address, _ = entityHost(c).ServeEntities(all.newSink)
		return address
	case serveSingleton:
		return singletonHost(c).ServeSingleton(all.alone())
	}
	if all.sinks == 1 {
		return c.Serve([]func([]byte){all.alone()})
	}
	sinks := make([]func([]byte), all.sinks)
	for i := range sinks {
		sinks[i] = all.newSink()
	}
	return c.Serve(sinks)
}

func check(err error) {
	if err != nil {
		fail("%v", err)
	}
}

// fail ends the process. A panic in a handler would be recovered by the library.
func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}
