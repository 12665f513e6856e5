package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// A phase is a row of the table: the requests whose answers came while it lasted.
type phase struct {
	name     string
	begun    time.Time
	requests []request
}

// A table is what customers saw. Any goroutine may note requests.
type table struct {
	mu       sync.Mutex // guards the rest
	phases   []*phase
	surprise error // the first answer with another status than those of the table
}

// begin begins the next phase.
func (t *table) begin(name string) *phase {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &phase{name: name, begun: time.Now()}
	t.phases = append(t.phases, p)
	return p
}

func (t *table) note(r request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch r.status {
	case 0, http.StatusCreated, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		t.surprise = cmp.Or(t.surprise, errors.New(r.text))
	}
	for _, p := range slices.Backward(t.phases) {
		if !r.sent.Add(r.took).Before(p.begun) {
			p.requests = append(p.requests, r)
			return
		}
	}
}

// firstAfter returns when the first payment was acknowledged that was sent after p began.
func (t *table) firstAfter(p *phase) (first time.Duration) {
	for _, q := range t.phases[slices.Index(t.phases, p):] {
		for _, r := range q.requests {
			at := r.sent.Add(r.took).Sub(p.begun)
			if r.status == http.StatusCreated && r.sent.After(p.begun) && (first == 0 || at < first) {
				first = at
			}
		}
	}
	return first
}

func (t *table) print() {
	fmt.Println("| new payments | requests | 201 | p50 | p99 | 503 | p50 | p99 | Retry-After | 504 | no answer |")
	fmt.Println("|---|--:|--:|--:|--:|--:|--:|--:|---|--:|--:|")
	for _, p := range t.phases {
		fmt.Println(p.row())
	}
}

func (p *phase) row() string {
	took := map[int][]time.Duration{} // by status
	var waits []int
	for _, r := range p.requests {
		took[r.status] = append(took[r.status], r.took)
		if r.retryAfter > 0 && !slices.Contains(waits, r.retryAfter) {
			waits = append(waits, r.retryAfter)
		}
	}
	slices.Sort(waits)
	return fmt.Sprintf("| %s | %d | %s | %s | %s | %d | %d |", p.name, len(p.requests),
		quantiles(took[http.StatusCreated]), quantiles(took[http.StatusServiceUnavailable]), strings.Trim(fmt.Sprint(waits), "[]"),
		len(took[http.StatusGatewayTimeout]), len(took[0]))
}

// quantiles returns three cells: how many, the median, and what 99 % did not exceed.
func quantiles(all []time.Duration) string {
	if len(all) == 0 {
		return "0 |  | "
	}
	slices.Sort(all)
	at := func(q float64) time.Duration { return all[int(q*float64(len(all)-1))].Round(time.Millisecond) }
	return fmt.Sprintf("%d | %v | %v", len(all), at(0.5), at(0.99))
}
