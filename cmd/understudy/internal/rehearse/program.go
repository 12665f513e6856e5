package rehearse

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// These are as in package rehearsal.
const (
	variable = "UNDERSTUDY_REHEARSAL"
	prefix   = "understudy-rehearsal "
)

// A program is a build that answers requests, one after the other.
type program struct {
	name  string // as the user has written it
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Reader
	said  tail

	turn sync.Mutex // held while a request is answered
}

// The file of a program that calls rehearsal.Serve contains this text, and the file of this command
// does not.
var served = strings.Join([]string{"rehearsal.Serve", "knows", "version"}, " ")

// start starts a build, unless that would run as if nothing were asked.
func start(ctx context.Context, path, key string) (*program, error) {
	if err := check(path); err != nil {
		return nil, err
	}
	exe, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	p := &program{name: path, cmd: exec.CommandContext(ctx, exe)} //nolint:gosec // the user has named it
	p.cmd.Env = append(os.Environ(), variable+"=1:"+key)
	p.cmd.Stderr = &p.said
	p.cmd.WaitDelay = 5 * time.Second
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	p.lines = bufio.NewReaderSize(out, 1<<16)
	return p, p.cmd.Start()
}

func check(path string) error {
	f, err := os.Open(path) //nolint:gosec // the user has named it
	if err != nil {
		return err
	}
	defer f.Close()
	text, overlap := []byte(served), len(served)-1
	buf := make([]byte, 1<<20)
	kept := 0
	for {
		n, err := f.Read(buf[kept:])
		have := buf[:kept+n]
		if bytes.Contains(have, text) {
			return nil
		}
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%s does not call rehearsal.Serve, so it was not started: see https://pkg.go.dev/github.com/understudy-go/understudy/persistence/rehearsal", path)
		}
		if err != nil {
			return err
		}
		kept = copy(buf, have[max(0, len(have)-overlap):])
	}
}

// ask sends a request, and gives each answer to f.
func (p *program) ask(r request, f func(*answer) error) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := p.stdin.Write(append(line, '\n')); err != nil {
		return p.failed(err)
	}
	for {
		line, err := p.lines.ReadBytes('\n')
		if err != nil {
			return p.failed(err)
		}
		data, ours := bytes.CutPrefix(line, []byte(prefix))
		if !ours {
			_, _ = p.said.Write(line) // what the program prints
			continue
		}
		a := new(answer)
		if err := json.Unmarshal(data, a); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		switch {
		case a.Done && a.Error != "":
			return fmt.Errorf("%s: %s", p.name, a.Error)
		case a.Done:
			return nil
		}
		if err := f(a); err != nil {
			return err
		}
	}
}

// failed explains why the program answers no more.
func (p *program) failed(err error) error {
	p.end()
	if said := p.said.String(); said != "" {
		return fmt.Errorf("%s has ended (%v); its last words:\n%s", p.name, p.cmd.ProcessState, said)
	}
	return fmt.Errorf("%s has ended (%v): %w", p.name, p.cmd.ProcessState, err)
}

func (p *program) end() {
	_ = p.stdin.Close() // it may have ended before
	_ = p.cmd.Wait()    // likewise
}

// A tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex // guards kept
	kept []byte
}

const tailSize = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if n := len(t.kept); n > tailSize {
		t.kept = append([]byte(nil), t.kept[n-tailSize:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.kept), ""))
}
