package orders

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/understudy-go/understudy/internal/process"
)

// names are those of the nodes.
var names = []string{"node-1", "node-2", "node-3"}

// A trio is the three processes of the cluster.
type trio struct {
	settings
	binds, addresses []string // addresses take requests
	all              map[string]*process.Process
}

// start starts the nodes, and waits until all answer requests. Close the trio also after an
// error.
func start(ctx context.Context, s settings) (*trio, error) {
	t := &trio{settings: s, all: map[string]*process.Process{}}
	free, err := process.FreeAddresses(2 * len(names))
	if err != nil {
		return t, err
	}
	t.binds, t.addresses = free[:len(names)], free[len(names):]
	for _, node := range names {
		if err := t.launch(node, 1); err != nil {
			return t, err
		}
	}
	for _, node := range names {
		if err := t.ready(ctx, node); err != nil {
			return t, err
		}
	}
	return t, nil
}

// launch starts a node with a version of the program.
func (t *trio) launch(node string, version int) error {
	i := slices.Index(names, node)
	p, err := process.Start(process.Self(nil, "-node", node, "-bind", t.binds[i], "-http", t.addresses[i],
		"-seeds", strings.Join(t.binds, ","), "-journal", t.journal, "-services", t.services, "-version", strconv.Itoa(version)))
	if err != nil {
		return err
	}
	t.all[node] = p
	return nil
}

// ready waits until a node answers requests.
func (t *trio) ready(ctx context.Context, node string) error {
	if line, ok := t.all[node].Line(); !ok || line != "open" {
		return fmt.Errorf("%s has not started; the lines above say why, or run the program again if its port was taken", node)
	}
	var end outcome
	i := slices.Index(names, node)
	return insist(ctx, http.MethodGet, t.addresses[i:i+1], "orders/"+t.run+"-none", nil, &end)
}

// upgrade lets a node leave, and starts it with version 2.
func (t *trio) upgrade(ctx context.Context, node string) error {
	p := t.all[node]
	p.EndInput()
	p.Rest()
	if err := p.Wait(); err != nil {
		return fmt.Errorf("%s has not left: %w", node, err)
	}
	if err := t.launch(node, 2); err != nil {
		return err
	}
	return t.ready(ctx, node)
}

// close kills the nodes that run.
func (t *trio) close() {
	for _, p := range t.all {
		p.Kill()
	}
}
