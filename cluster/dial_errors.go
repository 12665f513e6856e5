package cluster

import (
	"fmt"
	"strings"
	"sync"

	"github.com/understudy-go/understudy/cluster/membership"
)

// dialErrors remembers why addresses could not be reached, for people. It forgets all when
// there are too many, as anybody may name addresses where nobody lives.
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

// of says what is known about addresses.
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
