package failover

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/understudy-go/understudy/internal/process"
)

// A nodeRun is one run of one node, as the director sees it.
type nodeRun struct {
	*process.Process
	node    string
	reports <-chan report // closed when the process has ended

	mu    sync.Mutex // guards stats
	stats stats
}

// startProcess runs this program again, as a node.
func startProcess(node, bind, seeds, journal, id string, log io.Writer) (*nodeRun, error) {
	cmd := process.Self(nil, "-node", node, "-bind", bind, "-seeds", seeds, "-journal", journal, "-id", id)
	cmd.Stderr = log
	started, err := process.Start(cmd)
	if err != nil {
		return nil, err
	}
	p := &nodeRun{Process: started, node: node}
	p.reports = p.read()
	return p, nil
}

// read passes the reports on, and remembers the last figures.
func (p *nodeRun) read() <-chan report {
	reports := make(chan report, 1024)
	go func() {
		defer close(reports)
		for line, ok := p.Line(); ok; line, ok = p.Line() {
			var r report
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				r = report{Failed: fmt.Sprintf("unreadable report: %v", err)}
			}
			p.remember(r)
			reports <- r
		}
		_ = p.Wait() // most of these processes are killed
		p.mu.Lock()
		defer p.mu.Unlock()
		p.stats.Here = false
	}()
	return reports
}

func (p *nodeRun) remember(r report) {
	if r.Stats == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats = *r.Stats
}

// figures returns the last figures that the process has sent.
func (p *nodeRun) figures() stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}
