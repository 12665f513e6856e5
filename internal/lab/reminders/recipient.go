package reminders

import (
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// pondering is how long the recipient takes to answer. A node that is killed meanwhile cannot store
// that it has delivered.
const pondering = 10 * time.Millisecond

// A receipt is a delivery as the recipient has logged it.
type receipt struct {
	delivery
	at time.Time
}

// A recipient is an HTTP endpoint outside of the cluster. It logs all that it gets, repetitions as
// well.
type recipient struct {
	url    string
	server *http.Server

	mu    sync.Mutex // guards all below
	log   []receipt
	watch map[string]chan<- struct{} // closed at the next delivery by a node
}

func openRecipient() (*recipient, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &recipient{url: "http://" + l.Addr().String(), watch: map[string]chan<- struct{}{}}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: time.Second}
	go func() { _ = r.server.Serve(l) }() // until close
	return r, nil
}

func (r *recipient) close() { _ = r.server.Close() }

// ServeHTTP implements [http.Handler].
func (r *recipient) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var d delivery
	if err := json.NewDecoder(request.Body).Decode(&d); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.note(d)
	time.Sleep(pondering)
	w.WriteHeader(http.StatusOK)
}

func (r *recipient) note(d delivery) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, receipt{delivery: d, at: time.Now()})
	if next, watched := r.watch[d.Node]; watched {
		close(next)
		delete(r.watch, d.Node)
	}
}

// receipts returns the log up to now.
func (r *recipient) receipts() []receipt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.log)
}

// next returns a channel that is closed at the next delivery by a node. Only one caller may wait
// for a node.
func (r *recipient) next(node string) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := make(chan struct{})
	r.watch[node] = next
	return next
}

// byNode returns how many deliveries each node has made.
func (r *recipient) byNode() map[string]int {
	count := map[string]int{}
	for _, one := range r.receipts() {
		count[one.Node]++
	}
	return count
}
