package reminders

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/understudy-go/understudy/internal/process"
)

// processes is how many nodes there are.
const processes = 3

// A trio is the three processes of the cluster.
type trio struct {
	all       map[string]*process.Process // by the name of the node
	addresses []string                    // that take requests
}

// start starts the nodes, and waits until all answer requests. Close the trio also after an
// error.
func start(ctx context.Context, s settings) (*trio, error) {
	c := &trio{all: map[string]*process.Process{}}
	addresses, err := process.FreeAddresses(2 * processes)
	if err != nil {
		return c, err
	}
	binds := addresses[:processes]
	c.addresses = addresses[processes:]
	for i := range processes {
		p, err := process.Start(process.Self(nil, "-node", nameOf(i), "-bind", binds[i], "-http", c.addresses[i],
			"-seeds", strings.Join(binds, ","), "-journal", s.journal, "-recipient", s.recipient))
		if err != nil {
			return c, err
		}
		c.all[nameOf(i)] = p
	}
	for i := range processes {
		if line, ok := c.all[nameOf(i)].Line(); !ok || line != "open" {
			return c, fmt.Errorf("%s has not started; the lines above say why, or run the program again if its port was taken", nameOf(i))
		}
	}
	for _, address := range c.addresses { // the first answer comes when the shards have homes
		var keys []string
		if _, err := insist(ctx, http.MethodGet, []string{address}, s.customer(0), &keys); err != nil {
			return c, err
		}
	}
	return c, nil
}

func nameOf(n int) string { return fmt.Sprint("node-", n+1) }

// close kills the nodes that run.
func (c *trio) close() {
	for _, p := range c.all {
		p.Kill()
	}
}
