package roll

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A load keeps the nodes busy while they are replaced.
type load interface {
	begin(ctx context.Context) error
	// meet gives it time to meet the cluster as it is, and returns what has gone wrong since it was
	// asked before.
	meet(ctx context.Context) []finding
	// failed returns what has gone wrong since it was asked before.
	failed() []finding
	// end stops it, and returns how many requests were answered, and what else has gone wrong.
	end() (requests int, found []finding)
}

// newLoad returns a load: a request that begins with its method, such as
//
//	PUT http://{http}/orders/{n}/number
//
// or a command, which gets the base URLs of the nodes in the variable UNDERSTUDY_NODES.
func newLoad(text string, nodes []*node) (load, error) {
	words := strings.Fields(text)
	switch {
	case len(words) == 0:
		return idle{}, nil
	case !method.MatchString(words[0]):
		return &script{words: words, nodes: nodes}, nil
	case unknown("-load", text) != nil:
		return nil, unknown("-load", text)
	case len(words) != 2 || !strings.Contains(words[1], "{http"):
		return nil, fmt.Errorf("-load: %q is no request; say METHOD URL, such as PUT http://{http}/orders/{n}", text)
	}
	return &requests{method: words[0], url: words[1], nodes: nodes, ended: make([]int, len(nodes))}, nil
}

var method = regexp.MustCompile(`^[A-Z]+$`)

type idle struct{}

func (idle) begin(context.Context) error { return nil }

func (idle) meet(context.Context) []finding { return nil }

func (idle) failed() []finding { return nil }

func (idle) end() (int, []finding) { return 0, nil }

// requests sends a request with a new number to one node after the other.
type requests struct {
	method, url string
	nodes       []*node
	client      http.Client
	stop        context.CancelFunc
	senders     sync.WaitGroup
	sent        atomic.Int64

	mu       sync.Mutex // guards all below
	ended    []int      // requests of each sender that are over
	answered int
	known    int // of those that were answered, when it was asked before
	refused  int // since then
	first    string
}

const (
	briefly  = time.Second            // how long a load meets a cluster at least
	pace     = 100 * time.Millisecond // between two requests of a sender
	patience = 30 * time.Second       // for one request and its repetitions
)

func (l *requests) begin(ctx context.Context) error {
	l.client.Timeout = patience
	ctx, l.stop = context.WithCancel(ctx)
	for i := range l.nodes {
		l.senders.Go(func() { l.send(ctx, i) })
	}
	return nil
}

// meet waits until each sender has a request behind it that began meanwhile, or one has failed.
func (l *requests) meet(ctx context.Context) []finding {
	l.mu.Lock()
	before := slices.Clone(l.ended)
	l.mu.Unlock()
	pause(ctx, briefly)
	for !l.met(before) && ctx.Err() == nil {
		pause(ctx, look)
	}
	return l.failed()
}

func (l *requests) met(before []int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, n := range l.ended {
		if n < before[i]+2 && l.refused == 0 { // the first one may have begun before
			return false
		}
	}
	return true
}

func (l *requests) failed() []finding {
	l.mu.Lock()
	defer l.mu.Unlock()
	refused, answered := l.refused, l.answered-l.known
	l.refused, l.known = 0, l.answered
	if refused == 0 {
		return nil
	}
	return []finding{{Problem: Problem{Kind: "load", Text: fmt.Sprintf("%d of %d requests have failed. The first one: %s", refused, refused+answered, l.first)}}}
}

func (l *requests) end() (int, []finding) {
	l.stop()
	l.senders.Wait()
	return l.answered, l.failed()
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// send sends one request after the other, beginning with another node than the other senders.
func (l *requests) send(ctx context.Context, from int) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for sender := from; ; from++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		err := l.one(ctx, from)
		if ctx.Err() != nil {
			return
		}
		l.mu.Lock()
		l.ended[sender]++
		if err == nil {
			l.answered++
		} else if l.refused++; l.refused == 1 {
			l.first = err.Error()
		}
		l.mu.Unlock()
	}
}

// one repeats a request as a client would, at one node after the other, until it is answered with
// another code than a 5xx.
func (l *requests) one(ctx context.Context, from int) error {
	number, until := strconv.FormatInt(l.sent.Add(1), 10), time.Now().Add(patience)
	for ; ; from++ {
		code, err := l.ask(ctx, l.nodes[from%len(l.nodes)], number)
		if err == nil || code >= 400 && code < 500 || time.Now().After(until) || ctx.Err() != nil {
			return err
		}
		pause(ctx, pace)
	}
}

func (l *requests) ask(ctx context.Context, n *node, number string) (code int, err error) {
	to := strings.ReplaceAll(n.fill(l.url), "{n}", number)
	r, err := http.NewRequestWithContext(ctx, l.method, to, nil)
	if err != nil {
		return http.StatusBadRequest, err // no repetition helps
	}
	answer, err := l.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err == nil && answer.StatusCode >= 400 {
		err = fmt.Errorf("%s %s on %s: %s: %s", l.method, to, n.name, answer.Status, bytes.TrimSpace(body[:min(len(body), 300)]))
	}
	return answer.StatusCode, err
}

// A script is a command that makes the load until SIGTERM.
type script struct {
	words []string
	nodes []*node
	cmd   *exec.Cmd
	ended chan struct{}
	said  output
	told  bool // that it has ended
}

func (l *script) begin(ctx context.Context) error {
	var urls []string
	for _, n := range l.nodes {
		urls = append(urls, "http://"+n.http)
	}
	l.cmd = exec.CommandContext(ctx, l.words[0], l.words[1:]...) //nolint:gosec // the user has named it
	l.cmd.Env = append(os.Environ(), "UNDERSTUDY_NODES="+strings.Join(urls, " "))
	l.cmd.Stdout, l.cmd.Stderr, l.cmd.WaitDelay = &l.said, &l.said, 5*time.Second
	if err := l.cmd.Start(); err != nil {
		return fmt.Errorf("-load: %w", err)
	}
	l.ended = make(chan struct{})
	go func() {
		_ = l.cmd.Wait() // its state says how it has ended
		close(l.ended)
	}()
	return nil
}

func (l *script) meet(ctx context.Context) []finding {
	select {
	case <-time.After(briefly):
	case <-l.ended:
	case <-ctx.Done():
	}
	return l.failed()
}

// failed says once that the command has ended.
func (l *script) failed() []finding {
	select {
	case <-l.ended:
	default:
		return nil
	}
	if l.told {
		return nil
	}
	l.told = true
	return []finding{{Problem: Problem{Kind: "load", Text: "The load has ended, and must run until SIGTERM. " + l.how()}}}
}

func (l *script) end() (int, []finding) {
	if found := l.failed(); l.told {
		return 0, found
	}
	err := l.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-l.ended:
	case <-time.After(patience):
		_ = l.cmd.Process.Kill()
		<-l.ended
		return 0, []finding{{Problem: Problem{Kind: "load", Text: fmt.Sprintf("The load still ran %v after SIGTERM, and was killed.", patience)}}}
	}
	if errors.Is(err, os.ErrProcessDone) { // just now
		return 0, l.failed()
	}
	if state := l.cmd.ProcessState; state.Success() || state.ExitCode() < 0 { // -1: by the signal
		return 0, nil
	}
	return 0, []finding{{Problem: Problem{Kind: "load", Text: "The load has failed. " + l.how()}}}
}

func (l *script) how() string {
	return (&endedError{l.cmd.ProcessState.String(), l.said.ends()}).Error()
}
