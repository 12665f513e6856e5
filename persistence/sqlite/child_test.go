//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sqlite

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
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
)

// childEnv makes the test binary play one of children, given as its arguments "role path
// id". A child says on its standard output what it has done, a line for each deed, and
// ends with its standard input.
const childEnv = "UNDERSTUDY_SQLITE_CHILD"

var children = map[string]func(path, id string) error{
	"claim once":        claimOnce,
	"append on request": appendOnRequest,
	"append for ever":   appendForEver,
	"storm":             stormForEver,
	"hold the lock":     holdTheLock,
	"open as nobody":    openAsNobody,
}

func TestMain(m *testing.M) {
	role := os.Getenv(childEnv)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := children[role](os.Args[1], os.Args[2]); err != nil {
		say("failed: %v", err)
		os.Exit(1)
	}
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

// owner is a claim with the journal it was made in.
type owner struct {
	j     *Journal
	id    string
	claim persistence.Claim
}

func own(path, id string) (*owner, error) {
	j, err := Open(path)
	if err != nil {
		return nil, err
	}
	o := &owner{j: j, id: id}
	return o, o.reclaim()
}

func (o *owner) reclaim() (err error) {
	o.claim, err = o.j.Claim(context.Background(), o.id, persistence.WriterID{byte(os.Getpid())})
	return err
}

// append stores one event, whose payload tells it from all others, and says so.
func (o *owner) append() error {
	req := some(o.id, o.claim.Epoch, o.claim.LastSeq, 1)
	payload := fmt.Sprintf("%d of %d", req.Records[0].Seq, os.Getpid())
	req.Records[0].Payload = []byte(payload)
	err := o.j.Append(context.Background(), []persistence.AppendRequest{req})[0]
	if err == nil {
		o.claim.LastSeq++
		say("%s", payload)
	}
	return err
}

func claimOnce(path, id string) error {
	o, err := own(path, id)
	if err != nil {
		return err
	}
	say("epoch %d", o.claim.Epoch)
	return o.j.Close()
}

func appendOnRequest(path, id string) error {
	o, err := own(path, id)
	if err != nil {
		return err
	}
	say("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if err := o.append(); err != nil {
			say("%v", err)
		}
	}
	return o.j.Close()
}

func appendForEver(path, id string) error {
	o, err := own(path, id)
	if err != nil {
		return err
	}
	ctx := untilEOF()
	for ctx.Err() == nil {
		if err := o.append(); err != nil {
			return err
		}
	}
	return o.j.Close()
}

func stormForEver(path, id string) error {
	o, err := own(path, id)
	if err != nil {
		return err
	}
	ctx := untilEOF()
	for ctx.Err() == nil {
		err := o.append()
		if errors.Is(err, persistence.ErrFenced) {
			err = o.reclaim()
		}
		if err != nil {
			return err
		}
	}
	return o.j.Close()
}

// holdTheLock begins a transaction and does not end it.
func holdTheLock(path, _ string) error {
	j, err := Open(path)
	if err != nil {
		return err
	}
	if err := j.writer.lock(context.Background()); err != nil {
		return err
	}
	say("holding")
	<-untilEOF().Done()
	return nil
}

// openAsNobody shows what a user without rights gets; root has them all.
func openAsNobody(path, id string) error {
	if err := syscall.Setuid(65534); err != nil {
		return err
	}
	_, err := own(path, id)
	say("%v", err)
	return nil
}

// A child is a process that runs one of children.
type child struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
	end   sync.Once
}

func startChild(t *testing.T, role, path, id string) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0], path, id)
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

func (c *child) ask() {
	c.t.Helper()
	_, err := io.WriteString(c.stdin, "\n")
	require.NoError(c.t, err)
}

func (c *child) signal(s syscall.Signal) {
	c.t.Helper()
	require.NoError(c.t, c.cmd.Process.Signal(s))
}

// kill ends the child with SIGKILL, if it has not ended; what it said before can be read
// still when the pipe is read first.
func (c *child) kill() {
	c.end.Do(func() {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait() // it was killed
	})
}
