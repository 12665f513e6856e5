package cluster

import (
	"fmt"
	"strings"
	"sync"

	"github.com/understudy-go/understudy/cluster/internal/membership"
)

// dialErrors keeps the last error of each address that could not be reached, for messages to
// people. It drops all when there are too many, because anyone may name addresses without a node.
type dialErrors struct {
	mu  sync.Mutex // guards all
	all map[string]error
}

func (t *dialErrors) note(address string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil || len(t.all) >= membership.MaxMembers {
		t.all = map[string]error{}
	}
	t.all[address] = err
}

func (t *dialErrors) of(addresses []string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []string
	for _, address := range addresses {
		if err := t.all[address]; err != nil {
			all = append(all, fmt.Sprintf("%s: %v", address, err))
		}
	}
	return strings.Join(all, "; ")
}
