package effects

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/understudy-go/understudy/internal/lab/cutproxy"
	"github.com/understudy-go/understudy/internal/process"
)

// names are those of the nodes.
var names = []string{"node-1", "node-2", "node-3"}

// A child is another process of the program.
type child struct {
	*process.Process
	expected atomic.Bool  // its end
	members  atomic.Int32 // of the cluster, as a node sees them; -1 if one of them is not well
}

// processes are the nodes and the sink. Each node has a link of its own to the sink. One goroutine
// at a time may work with the nodes, and one with the sink and the links.
type processes struct {
	settings
	life   context.Context // ends all
	failed func(error)     // is told that a process has ended by itself
	binds  []string        // of the nodes
	listen string          // address of the sink
	nodes  []*child
	sink   *child
	links  []*cutproxy.Proxy
}

// startAll starts the sink and the nodes, and waits until all are open. Close them also after an
// error.
func startAll(life context.Context, s settings, failed func(error)) (*processes, error) {
	p := &processes{settings: s, life: life, failed: failed, nodes: make([]*child, len(names))}
	free, err := process.FreeAddresses(len(names) + 1)
	if err != nil {
		return p, err
	}
	p.binds, p.listen = free[1:], free[0]
	if err := p.startSink(); err != nil {
		return p, err
	}
	for range names {
		link, err := cutproxy.Start(p.listen)
		if err != nil {
			return p, err
		}
		p.links = append(p.links, link)
	}
	for i := range names {
		if err := p.beginNode(i); err != nil { // the others help the first one to be open
			return p, err
		}
	}
	for i, node := range p.nodes {
		if err := p.opened(node, names[i]); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p *processes) startSink() (err error) {
	if p.sink, err = p.begin("-listen", p.listen, "-ledger", p.ledger); err != nil {
		return err
	}
	return p.opened(p.sink, "the sink")
}

func (p *processes) startNode(i int) error {
	if err := p.beginNode(i); err != nil {
		return err
	}
	return p.opened(p.nodes[i], names[i])
}

func (p *processes) beginNode(i int) (err error) {
	p.nodes[i], err = p.begin("-node", names[i], "-bind", p.binds[i], "-seeds", strings.Join(p.binds, ","),
		"-journal", p.journal, "-sink", "http://"+p.links[i].Addr())
	return err
}

func (p *processes) begin(args ...string) (*child, error) {
	one, err := process.Start(process.Self(nil, args...))
	if err != nil {
		return nil, err
	}
	context.AfterFunc(p.life, one.Kill)
	return &child{Process: one}, nil
}

// opened waits until a process is open. From then on its end is a failure, unless it is expected.
func (p *processes) opened(c *child, name string) error {
	if line, ok := c.Line(); !ok || line != opened {
		return fmt.Errorf("%s has not started; the lines above say why, or run the program again if its port was taken", name)
	}
	go func() {
		for line, ok := c.Line(); ok; line, ok = c.Line() {
			n, _ := strconv.Atoi(line) // nodes say nothing else
			c.members.Store(int32(n))
		}
		if err := c.Wait(); !c.expected.Load() && p.life.Err() == nil {
			p.failed(fmt.Errorf("%s has ended by itself: %w", name, err))
		}
	}()
	return nil
}

// kill ends a process with SIGKILL, and waits for its end.
func (c *child) kill() {
	c.expected.Store(true)
	c.Kill()
}

// leave lets a process end, and waits for that.
func (c *child) leave() error {
	c.expected.Store(true)
	c.EndInput()
	return c.Wait()
}

// close kills all processes that run.
func (p *processes) close() {
	for _, c := range append(p.nodes, p.sink) {
		if c != nil {
			c.kill()
		}
	}
	for _, link := range p.links {
		_ = link.Close()
	}
}
