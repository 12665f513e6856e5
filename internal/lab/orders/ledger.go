package orders

import (
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Headers of requests to the services.
const (
	keyHeader   = "Idempotency-Key"
	scopeHeader = "Fencing-Scope"
	tokenHeader = "Fencing-Token"
	nodeHeader  = "Node"
)

// pondering is how long a service takes to answer what it has done. A node that is killed meanwhile
// does not know it.
const pondering = 20 * time.Millisecond

// An entry is one request in the ledger of the services.
type entry struct {
	what, order, key, node string
	token                  uint64
	at                     time.Time
	cents                  int
	card                   string
	status                 int
	again                  bool // it got the first answer, and nothing was done
	did                    bool // something was done or undone
}

// String returns the line of the ledger.
func (e entry) String() string {
	return fmt.Sprintf("%s %s from %s, token %d.%d: %d, again %t, did %t", e.at.Format("05.000"), e.key, e.node, e.token>>32, e.token&math.MaxUint32, e.status, e.again, e.did)
}

// undoes says what the services undo.
var undoes = map[string]string{"release": "reserve", "refund": "charge", "recall": "ship"}

// A ledger is the services outside of the cluster: a warehouse, a bank and the mail. It writes down
// each request, and does what it asks for. A repetition gets the first answer, and a process that
// was replaced is refused.
type ledger struct {
	url    string // without a scheme
	server *http.Server

	mu     sync.Mutex // guards all below
	log    []entry
	first  map[string]entry  // by key
	tokens map[string]uint64 // the highest of each order
	done   map[effect]int    // in cents
	undone map[effect]bool
	watch  []watch
}

type effect struct{ what, order string }

// A watch waits for the next request of a node.
type watch struct {
	what, node string
	seen       chan<- struct{}
}

func newLedger() *ledger {
	return &ledger{first: map[string]entry{}, tokens: map[string]uint64{}, done: map[effect]int{}, undone: map[effect]bool{}}
}

func openLedger() (*ledger, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := newLedger()
	l.url = listener.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{what}/{order}", l.take)
	l.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	go func() { _ = l.server.Serve(listener) }() // until close
	return l, nil
}

func (l *ledger) close() { _ = l.server.Close() }

// take handles a request.
func (l *ledger) take(w http.ResponseWriter, r *http.Request) {
	token, err := strconv.ParseUint(r.Header.Get(tokenHeader), 10, 64)
	cents, _ := strconv.Atoi(r.FormValue("cents")) // only charges have them
	e := entry{
		what: r.PathValue("what"), order: r.PathValue("order"), key: r.Header.Get(keyHeader), node: r.Header.Get(nodeHeader),
		token: token, at: time.Now(), cents: cents, card: r.FormValue("card"),
	}
	if err != nil || e.key == "" {
		http.Error(w, fmt.Sprintf("no key, or not a token: %q", r.Header.Get(tokenHeader)), http.StatusBadRequest)
		return
	}
	e = l.note(e)
	time.Sleep(pondering) // it is stored, and the caller does not know
	w.WriteHeader(e.status)
	_ = json.NewEncoder(w).Encode(e.cents) // a caller that does not get it asks again
}

// note decides about a request, does what it asks for, and writes it down.
func (l *ledger) note(e entry) entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	first, again := l.first[e.key]
	switch {
	case e.token < l.tokens[e.order]:
		e.status = http.StatusPreconditionFailed
	case again:
		e.status, e.cents, e.again = first.status, first.cents, true
	case len(l.log)%25 == 24: // busy; a repetition is done
		e.status = http.StatusServiceUnavailable
	default:
		e = l.do(e)
		l.first[e.key] = e
	}
	l.tokens[e.order] = max(l.tokens[e.order], e.token)
	l.log = append(l.log, e)
	l.watch = slices.DeleteFunc(l.watch, func(w watch) bool {
		if w.what != e.what || w.node != e.node {
			return false
		}
		close(w.seen)
		return true
	})
	return e
}

// do does or undoes something. What was undone cannot be done later: a request may be overtaken by
// its compensation.
func (l *ledger) do(e entry) entry {
	e.status = http.StatusOK
	if what, undo := undoes[e.what]; undo {
		of := effect{what, e.order}
		e.cents, e.did = l.done[of]
		l.undone[of] = true
		return e
	}
	of := effect{e.what, e.order}
	switch {
	case l.undone[of]:
		e.status = http.StatusGone
	case e.card == badCard:
		e.status = http.StatusPaymentRequired
	default:
		l.done[of], e.did = e.cents, true
	}
	return e
}

// entries returns the ledger up to now.
func (l *ledger) entries() []entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.log)
}

// next returns a channel that is closed at the next request of a node for something.
func (l *ledger) next(what, node string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := make(chan struct{})
	l.watch = append(l.watch, watch{what, node, seen})
	return seen
}

// busiest returns the node that has made most of the last requests.
func (l *ledger) busiest() (node string) {
	all := l.entries()
	count := map[string]int{}
	for _, e := range all[max(0, len(all)-50):] {
		if count[e.node]++; count[e.node] > count[node] {
			node = e.node
		}
	}
	return node
}
