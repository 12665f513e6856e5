package carts

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// A customer adds items to carts, one after the other, and repeats what is not acknowledged with
// another server.
type customer struct {
	name    string
	servers []string

	mu           sync.Mutex // guards all below
	acknowledged map[string][]string
	longest      time.Duration // between two acknowledgements
	last         time.Time
}

// shop adds items until ctx ends.
func (c *customer) shop(ctx context.Context, s settings) {
	c.last = time.Now()
	for n := 0; ctx.Err() == nil; n++ {
		cart, item := s.cart(n%carts), fmt.Sprintf("%s-item-%d", c.name, n)
		for try := n; !c.add(ctx, c.servers[try%len(c.servers)], cart, item); try++ {
			if ctx.Err() != nil {
				return
			}
		}
		c.note(cart, item)
	}
}

func (c *customer) note(cart, item string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acknowledged[cart] = append(c.acknowledged[cart], item)
	now := time.Now()
	c.longest = max(c.longest, now.Sub(c.last))
	c.last = now
}

func (c *customer) count() (items int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, all := range c.acknowledged {
		items += len(all)
	}
	return items
}

// add returns whether the server has acknowledged the item.
func (c *customer) add(ctx context.Context, server, cart, item string) bool {
	var stored bool
	err := call(ctx, http.MethodPost, "http://"+server+"/carts/"+cart+"/items/"+item, &stored)
	return err == nil && stored
}

var browser = &http.Client{Timeout: 3 * time.Second}

// call sends a request and decodes the answer.
func call(ctx context.Context, method, url string, answer any) error {
	r, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return err
	}
	response, err := browser.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, url, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(answer)
}
