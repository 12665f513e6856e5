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

	"github.com/understudy-go/understudy/persistence/workflow/outside"
)

// nodeHeader has the name of the node that makes a request.
const nodeHeader = "Node"

// pondering is how long a service takes to answer what it has done. A node that is killed meanwhile
// does not know it.
const pondering = 20 * time.Millisecond

// An entry is one request in the ledger of the services.
type entry struct {
	at                     time.Time
	what, order, key, node string
	token                  uint64
	cents                  int // that were charged or refunded
	status                 int
	again                  bool // it got the first answer, and nothing was done
	did                    bool // something was done or undone
}

// String returns the line of the ledger.
func (e entry) String() string {
	return fmt.Sprintf("%s %s from %s, token %d.%d: %d, again %t, did %t",
		e.at.Format("05.000"), e.key, e.node, e.token>>32, e.token&math.MaxUint32, e.status, e.again, e.did)
}

// undoes says what the services undo.
var undoes = map[string]string{"release": "reserve", "refund": "charge", "recall": "ship"}

// A ledger is the services outside of the cluster: a warehouse, a bank and the mail. It writes down
// each request, and does what it asks for. A repetition gets the first answer, and a process that
// was replaced is refused: package outside takes care of that.
type ledger struct {
	url    string // without a scheme
	server *http.Server
	once   http.Handler // calls do

	mu     sync.Mutex // guards all below
	log    []entry
	done   map[effect]int // in cents
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
	l := &ledger{done: map[effect]int{}, undone: map[effect]bool{}}
	services := http.NewServeMux()
	services.HandleFunc("POST /{what}/{order}", l.do)
	l.once = outside.Handler(outside.NewMemory(), services, outside.Require())
	return l
}

func openLedger() (*ledger, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := newLedger()
	l.url = listener.Addr().String()
	mux := http.NewServeMux()
	mux.Handle("POST /{what}/{order}", l)
	l.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	go func() { _ = l.server.Serve(listener) }() // until close
	return l, nil
}

func (l *ledger) close() { _ = l.server.Close() }

// ServeHTTP implements [http.Handler]. It handles one request at a time, so the order of the ledger
// is the order in which things were done.
func (l *ledger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.note(w, r)
	time.Sleep(pondering) // the answer is sent when this returns
}

// note writes down a request, and what has become of it.
func (l *ledger) note(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	token, _ := strconv.ParseUint(r.Header.Get(outside.TokenHeader), 10, 64) // the Handler refuses it otherwise
	l.log = append(l.log, entry{
		at: time.Now(), what: r.PathValue("what"), order: r.PathValue("order"), key: r.Header.Get(outside.KeyHeader), node: r.Header.Get(nodeHeader), token: token,
	})
	answer := &answered{ResponseWriter: w}
	l.once.ServeHTTP(answer, r)
	e := &l.log[len(l.log)-1]
	e.status, e.again = answer.status, answer.Header().Get(outside.ReplayedHeader) != ""
	l.watch = slices.DeleteFunc(l.watch, func(w watch) bool {
		if w.what != e.what || w.node != e.node {
			return false
		}
		close(w.seen)
		return true
	})
}

// An answered knows the status of its answer.
type answered struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements [http.ResponseWriter].
func (a *answered) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// do does or undoes something, for the last entry of the ledger. What was undone cannot be done
// later: a request may be overtaken by its compensation. The caller holds mu.
func (l *ledger) do(w http.ResponseWriter, r *http.Request) {
	e := &l.log[len(l.log)-1]
	if len(l.log)%25 == 0 {
		http.Error(w, "too many at once", http.StatusServiceUnavailable) // which is not final
		return
	}
	if what, undo := undoes[e.what]; undo {
		of := effect{what, e.order}
		e.cents, e.did = l.done[of]
		l.undone[of] = true
		_ = json.NewEncoder(w).Encode(e.cents) // in memory
		return
	}
	of := effect{e.what, e.order}
	switch {
	case l.undone[of]:
		http.Error(w, "it was undone before", http.StatusGone)
	case r.FormValue("card") == badCard:
		http.Error(w, "the card is declined", http.StatusPaymentRequired)
	default:
		e.cents, _ = strconv.Atoi(r.FormValue("cents")) // only charges have them
		e.did = true
		l.done[of] = e.cents
		_ = json.NewEncoder(w).Encode(e.cents) // in memory
	}
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
