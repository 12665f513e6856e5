package failover

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
)

// A process is one run of one node, as the director sees it.
type process struct {
	node    string
	cmd     *exec.Cmd
	orders  io.WriteCloser
	reports <-chan report // closed when the process has ended
	done    chan struct{} // closed then, too

	mu    sync.Mutex // guards stats
	stats stats
}

// startProcess runs this program again, as a node.
func startProcess(node, bind, seeds, journal, id string, log io.Writer) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "-node", node, "-bind", bind, "-seeds", seeds, "-journal", journal, "-id", id)
	cmd.Stderr = log
	cmd.SysProcAttr = childAttributes()
	orders, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{node: node, cmd: cmd, orders: orders, done: make(chan struct{})}
	p.reports = p.read(out)
	return p, nil
}

// read passes the reports on, and remembers the last figures.
func (p *process) read(out io.Reader) <-chan report {
	reports := make(chan report, 1024)
	go func() {
		defer close(reports)
		defer close(p.done)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 64<<20) // the final state is one line
		for lines.Scan() {
			var r report
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				r = report{Failed: fmt.Sprintf("unreadable report: %v", err)}
			}
			p.remember(r)
			reports <- r
		}
		_ = p.cmd.Wait() // most of these processes are killed
		p.mu.Lock()
		defer p.mu.Unlock()
		p.stats.Here = false
	}()
	return reports
}

func (p *process) remember(r report) {
	if r.Stats == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats = *r.Stats
}

// figures returns the last ones that the process has sent.
func (p *process) figures() stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *process) order(what string) error {
	_, err := fmt.Fprintln(p.orders, what)
	return err
}
