package main

import (
	"context"
	cryptorand "crypto/rand"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// tries is how often a customer sends a payment before giving up.
const tries = 4

// A customer makes one payment.
type customer struct {
	key          string
	acknowledged bool
	perhaps      bool // an answer left open whether the payment was made
}

// A request is one try, as the customer saw it.
type request struct {
	sent       time.Time
	took       time.Duration
	status     int // 0 if no answer came
	retryAfter int // seconds
	text       string
}

// customers pay through all servers.
type customers struct {
	browser *http.Client
	note    func(r request)
	left    sync.WaitGroup // those who still pay

	mu      sync.Mutex // guards the rest
	servers []string
	all     []*customer
}

func newCustomers(servers []string, note func(request)) *customers {
	return &customers{
		browser: &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 1000}},
		note:    note, servers: slices.Clone(servers),
	}
}

// use replaces the servers, as a load balancer does that has found one dead.
func (c *customers) use(servers []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.servers = slices.Clone(servers)
}

func (c *customers) server() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.servers[rand.IntN(len(c.servers))]
}

func (c *customers) newCustomer() *customer {
	c.mu.Lock()
	defer c.mu.Unlock()
	who := &customer{key: cryptorand.Text()}
	c.all = append(c.all, who)
	return who
}

// capacity returns how many payments a second are made if a few customers pay one after the other.
func (c *customers) capacity(ctx context.Context, lasts time.Duration) float64 {
	var made [8]int
	end := time.Now().Add(lasts)
	for i := range made {
		c.left.Go(func() {
			for ctx.Err() == nil && time.Now().Before(end) {
				if c.send(ctx, c.newCustomer()).status == http.StatusCreated {
					made[i]++
				}
			}
		})
	}
	c.left.Wait()
	all := 0
	for _, n := range made {
		all += n
	}
	return float64(all) / lasts.Seconds()
}

// pay sends new payments at a rate a second, at random times, and does not wait for their answers.
func (c *customers) pay(ctx context.Context, rate float64, lasts time.Duration) {
	end := time.Now().Add(lasts)
	next := time.Now()
	for {
		next = next.Add(time.Duration(rand.ExpFloat64() / rate * float64(time.Second)))
		if next.After(end) || !wait(ctx, time.Until(next)) {
			break
		}
		c.left.Go(func() { c.insist(ctx, c.newCustomer()) })
	}
	wait(ctx, time.Until(end))
}

// insist sends a payment until it is acknowledged, with the same key each time.
func (c *customers) insist(ctx context.Context, who *customer) {
	for range tries {
		r := c.send(ctx, who)
		c.note(r)
		if who.acknowledged {
			return
		}
		pause := time.Duration(max(1, r.retryAfter)) * time.Second
		if !wait(ctx, pause+rand.N(pause)) {
			return
		}
	}
}

// send sends a payment once.
func (c *customers) send(ctx context.Context, who *customer) request {
	r := request{sent: time.Now()}
	r.status, r.retryAfter, r.text = c.post(ctx, who.key)
	r.took = time.Since(r.sent)
	who.note(r)
	return r
}

// note notes an answer. An overloaded fund has told to wait for a second, and does not pay.
func (who *customer) note(r request) {
	who.acknowledged = r.status == http.StatusCreated
	refused := r.status == http.StatusServiceUnavailable && r.retryAfter == 1
	who.perhaps = who.perhaps || !refused
}

func (c *customers) post(ctx context.Context, key string) (status, retryAfter int, text string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.server()+"/payments", strings.NewReader(`{"cents": 1}`))
	if err != nil {
		return 0, 0, err.Error()
	}
	r.Header.Set("Idempotency-Key", key)
	response, err := c.browser.Do(r)
	if err != nil {
		return 0, 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, 0, err.Error()
	}
	retryAfter, _ = strconv.Atoi(response.Header.Get("Retry-After")) // 0 without one
	return response.StatusCode, retryAfter, fmt.Sprint(response.Status, ": ", string(body))
}
