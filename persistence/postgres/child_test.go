package postgres_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/postgres"
)

// childEnv makes the test binary play one of children, given as its arguments "url
// schema". A child says on its standard output what it has done, a line for each deed, and ends
// with its standard input.
const childEnv = "UNDERSTUDY_POSTGRES_CHILD"

var children = map[string]func(j *postgres.Journal) error{
	"claim once":      claimOnce,
	"append for ever": appendForEver,
	"storm":           stormForEver,
}

func runChild(role string) (code int) {
	j, err := postgres.Open(context.Background(), os.Args[1], postgres.Schema(os.Args[2]))
	if err == nil {
		err = errors.Join(children[role](j), j.Close())
	}
	if err != nil {
		say("failed: %v", err)
		return 1
	}
	return 0
}

func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// untilEOF is done when the standard input ends.
func untilEOF() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return ctx
}

// An owner is a claim with the journal it was made in.
type owner struct {
	persistence.Journal
	id    string
	claim persistence.Claim
}

func own(j persistence.Journal, id string) (*owner, error) {
	o := &owner{Journal: j, id: id}
	return o, o.reclaim()
}

func (o *owner) reclaim() (err error) {
	o.claim, err = o.Claim(context.Background(), o.id, persistence.WriterID{byte(os.Getpid())})
	return err
}

// next is a request of one event, whose payload tells it from all others.
func (o *owner) next() persistence.AppendRequest {
	req := some(o.id, o.claim.Epoch, o.claim.LastSeq, 1)
	req.Records[0].Payload = fmt.Appendf(nil, "%d of %d", req.Records[0].Seq, os.Getpid())
	return req
}

// append stores one event, and says so.
func (o *owner) append() error {
	req := o.next()
	err := o.Append(context.Background(), []persistence.AppendRequest{req})[0]
	if err == nil {
		o.claim.LastSeq++
		say("%s", req.Records[0].Payload)
	}
	return err
}

func claimOnce(j *postgres.Journal) error {
	o, err := own(j, "x")
	say("epoch %d", o.claim.Epoch)
	return err
}

func appendForEver(j *postgres.Journal) error {
	o, err := own(j, "x")
	for ctx := untilEOF(); err == nil && ctx.Err() == nil; {
		err = o.append()
	}
	return err
}

func stormForEver(j *postgres.Journal) error {
	o, err := own(j, "x")
	for ctx := untilEOF(); err == nil && ctx.Err() == nil; {
		if err = o.append(); errors.Is(err, persistence.ErrFenced) {
			err = o.reclaim()
		}
	}
	return err
}

// some is a request of n events.
func some(id string, epoch, prev uint64, n int) persistence.AppendRequest {
	req := persistence.AppendRequest{ID: id, Epoch: epoch, Prev: prev}
	for i := range uint64(n) {
		req.Records = append(req.Records, persistence.Record{
			Seq: prev + i + 1, Epoch: epoch, Type: "event", Tags: []string{"red", "blue", "red"}, Meta: map[string]string{"k": "v"},
			Payload: fmt.Appendf(nil, "%s %d", id, prev+i+1),
		})
	}
	return req
}

// A child is a process that runs one of children.
type child struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
	end   sync.Once
}

func startChild(t *testing.T, role string, j *handle) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0], j.url, j.schema)
	cmd.Env = append(os.Environ(), childEnv+"="+role)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	c := &child{t: t, cmd: cmd, stdin: stdin, lines: bufio.NewScanner(stdout)}
	t.Cleanup(c.kill)
	return c
}

// line waits for the child to say something.
func (c *child) line() string {
	c.t.Helper()
	require.True(c.t, c.lines.Scan(), "the child said no more: %v", c.lines.Err())
	require.False(c.t, strings.HasPrefix(c.lines.Text(), "failed"), c.lines.Text())
	return c.lines.Text()
}

// rest returns what the child says until its end.
func (c *child) rest() []string {
	c.t.Helper()
	var lines []string
	for c.lines.Scan() {
		require.False(c.t, strings.HasPrefix(c.lines.Text(), "failed"), c.lines.Text())
		lines = append(lines, c.lines.Text())
	}
	require.NoError(c.t, c.lines.Err())
	return lines
}

// finish lets the child end by itself and returns what it said until then.
func (c *child) finish() []string {
	c.t.Helper()
	require.NoError(c.t, c.stdin.Close())
	lines := c.rest()
	c.end.Do(func() { require.NoError(c.t, c.cmd.Wait()) })
	return lines
}

// kill ends the child with SIGKILL, if it has not ended; what it said before can be read
// still when the pipe is read first.
func (c *child) kill() {
	c.end.Do(func() {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait() // it was killed
	})
}
