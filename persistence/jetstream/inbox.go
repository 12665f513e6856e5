package jetstream

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// requestPatience is how long an answer may take after its request was sent. It is longer than the
// election of a leader usually is.
const requestPatience = 5 * time.Second

// readPatience is how long the first answer to a request may take that is repeated then. A leader
// that is replaced drops all requests.
const readPatience = time.Second

// errReconnect: the connection broke after the request was sent, so nobody sends its answer.
var errReconnect = errors.New("jetstream: the connection broke before the answer")

// An inbox receives the answers to all requests of a journal, through one subscription. The inbox
// of nats.go makes a context, a token and a timer for each request, and supports one answer per
// request. Here a request may have many answers, and callers may wait in any order.
type inbox struct {
	nc     *nats.Conn
	sub    *nats.Subscription
	prefix string
	states chan nats.Status

	mu        sync.Mutex // guards the rest
	number    uint64
	questions map[string]*question
	line      *line
}

// A line is a connection to a server. The client makes another one when it breaks.
type line struct {
	broken chan struct{}
	err    error // set before broken is closed
}

func newLine() *line { return &line{broken: make(chan struct{})} }

func newInbox(nc *nats.Conn) (*inbox, error) {
	in := &inbox{nc: nc, prefix: nc.NewInbox() + ".", questions: map[string]*question{}, line: newLine()}
	sub, err := nc.Subscribe(in.prefix+"*", in.take)
	if err != nil {
		return nil, err
	}
	in.sub, in.states = sub, nc.StatusChanged(nats.RECONNECTING, nats.CLOSED)
	go in.watch()
	return in, sub.SetPendingLimits(-1, -1) // take never waits
}

// watch ends the questions that a broken line has left without an answer. Requests that are made
// while there is no line are sent by the next one.
func (in *inbox) watch() {
	for state := range in.states {
		if state == nats.CLOSED {
			in.cut(nats.ErrConnectionClosed)
			return
		}
		in.cut(errReconnect)
	}
}

func (in *inbox) cut(err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.line.err = err
	close(in.line.broken)
	in.line = newLine()
}

func (in *inbox) take(m *nats.Msg) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if q := in.questions[m.Subject]; q != nil {
		select {
		case q.answers <- m:
		default: // more answers than requested
		}
	}
}

// close ends the subscription. It does not notify waiting goroutines.
func (in *inbox) close() {
	_ = in.sub.Unsubscribe()
	in.nc.RemoveStatusListener(in.states)
}

// A question is a request that has been sent. It must be forgotten when no more answers are needed.
type question struct {
	in      *inbox
	line    *line
	reply   string
	answers chan *nats.Msg
	heard   time.Time // when it was sent, or had its latest answer
}

func (in *inbox) ask(subject string, header nats.Header, data []byte, answers int) (*question, error) {
	q := &question{in: in, answers: make(chan *nats.Msg, answers), heard: time.Now()}
	in.mu.Lock()
	in.number++
	q.line = in.line
	q.reply = in.prefix + strconv.FormatUint(in.number, 36)
	in.questions[q.reply] = q
	in.mu.Unlock()
	if err := in.nc.PublishMsg(&nats.Msg{Subject: subject, Reply: q.reply, Header: header, Data: data}); err != nil {
		q.forget()
		return nil, err
	}
	return q, nil
}

func (q *question) forget() {
	q.in.mu.Lock()
	defer q.in.mu.Unlock()
	delete(q.in.questions, q.reply)
}

// answer waits for the next answer. Its patience begins when the question is sent, or when the
// answer before was taken, so that many questions that were sent ahead end together.
func (q *question) answer(ctx context.Context, patience time.Duration) (*nats.Msg, error) {
	select {
	case m := <-q.answers:
		return q.hear(m)
	default:
	}
	late := time.NewTimer(patience - time.Since(q.heard))
	defer late.Stop()
	select {
	case m := <-q.answers:
		return q.hear(m)
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-q.line.broken:
		return nil, q.line.err
	case <-late.C:
		return nil, nats.ErrTimeout
	}
}

func (q *question) hear(m *nats.Msg) (*nats.Msg, error) {
	q.heard = time.Now()
	if status(m) == noResponders {
		return m, nats.ErrNoResponders
	}
	return m, nil
}

const (
	statusHeader  = "Status"
	noResponders  = "503"
	statusMissing = "404"
	statusEnd     = "204"
)

// status returns the status of an answer that is not a message, and "" if it is a message.
func status(m *nats.Msg) string {
	if len(m.Header) == 0 || len(m.Data) > 0 {
		return ""
	}
	return m.Header.Get(statusHeader)
}

func (in *inbox) request(ctx context.Context, patience time.Duration, subject string, header nats.Header, data []byte) (*nats.Msg, error) {
	q, err := in.ask(subject, header, data, 1)
	if err != nil {
		return nil, err
	}
	defer q.forget()
	return q.answer(ctx, patience)
}

// again calls read until there is an answer. It repeats it while there is no leader, or the
// connection breaks, or nobody answers, for about as long as one answer may take. Each call may
// take twice as long as the one before, because the server may just be slow.
func (in *inbox) again(ctx context.Context, read func(patience time.Duration) error) error {
	begun := time.Now()
	for n := 1; ; n++ {
		err := read(min(readPatience<<min(n-1, 3), requestPatience))
		if err == nil || errors.Is(err, errMissing) {
			return err
		}
		if time.Since(begun) >= requestPatience || ctx.Err() != nil || in.nc.IsClosed() {
			return unavailable(ctx, err)
		}
		if err := backOff(ctx, n); err != nil {
			return unavailable(ctx, err)
		}
	}
}
