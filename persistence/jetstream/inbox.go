package jetstream

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// requestPatience is how long one answer may take. It is longer than the election of a
// leader usually is.
const requestPatience = 5 * time.Second

// An inbox receives the answers to all requests of a journal, through one subscription. The inbox
// of nats.go makes a context, a token and a timer for each request, and supports one answer per
// request. Here a request may have many answers, and callers may wait in any order.
type inbox struct {
	nc     *nats.Conn
	sub    *nats.Subscription
	prefix string
	gone   chan struct{} // closed when the connection has been closed

	mu        sync.Mutex // guards number and questions
	number    uint64
	questions map[string]*question
}

func newInbox(nc *nats.Conn) (*inbox, error) {
	in := &inbox{nc: nc, prefix: nc.NewInbox() + ".", gone: make(chan struct{}), questions: map[string]*question{}}
	sub, err := nc.Subscribe(in.prefix+"*", in.take)
	if err != nil {
		return nil, err
	}
	sub.SetClosedHandler(func(string) {
		if nc.IsClosed() { // otherwise the journal was closed, and its callers notice
			close(in.gone)
		}
	})
	in.sub = sub
	return in, sub.SetPendingLimits(-1, -1) // take never waits
}

// take passes an answer to the goroutine that waits for it, if there is one.
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
func (in *inbox) close() { _ = in.sub.Unsubscribe() }

// A question is a request that has been sent. It must be forgotten when no more answers are needed.
type question struct {
	in      *inbox
	reply   string
	answers chan *nats.Msg
}

// ask sends a request that has at most that many answers.
func (in *inbox) ask(subject string, header nats.Header, data []byte, answers int) (*question, error) {
	q := &question{in: in, answers: make(chan *nats.Msg, answers)}
	in.mu.Lock()
	in.number++
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

// answer waits for the next answer.
func (q *question) answer(ctx context.Context) (*nats.Msg, error) {
	select {
	case m := <-q.answers:
		return m, heard(m)
	default:
	}
	patience := time.NewTimer(requestPatience)
	defer patience.Stop()
	select {
	case m := <-q.answers:
		return m, heard(m)
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-q.in.gone:
		return nil, nats.ErrConnectionClosed
	case <-patience.C:
		return nil, nats.ErrTimeout
	}
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

func heard(m *nats.Msg) error {
	if status(m) == noResponders {
		return nats.ErrNoResponders
	}
	return nil
}

// request sends a request that has one answer, and waits for it.
func (in *inbox) request(ctx context.Context, subject string, header nats.Header, data []byte) (*nats.Msg, error) {
	q, err := in.ask(subject, header, data, 1)
	if err != nil {
		return nil, err
	}
	defer q.forget()
	return q.answer(ctx)
}
