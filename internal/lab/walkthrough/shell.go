package walkthrough

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A Shell is a bash that runs the commands of pages, one after the other, as an interactive one
// does: variables, the working directory and jobs in the background remain from page to page.
type Shell struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	abandon func() // ends the shell, also if it waits for more input
	ended   string // begins the line that the shell prints after the commands of a step
}

// Open starts a shell in dir, with env in addition to the environment of this process. It ends,
// with all its jobs, when ctx does, or with [Shell.Close].
func Open(ctx context.Context, dir string, env ...string) (*Shell, error) {
	cmd := exec.CommandContext(ctx, "bash", "--noprofile", "--norc")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	cmd.Cancel = in.Close // the shell ends its jobs at the end of its input
	cmd.WaitDelay = 10 * time.Second
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		_ = r.Close()
		return nil, fmt.Errorf("walkthrough: a page needs bash: %w", err)
	}
	s := &Shell{cmd: cmd, in: in, out: bufio.NewReader(r), ended: "ended-" + rand.Text()}
	s.abandon = func() { _, _ = in.Close(), r.Close() } // jobs may keep the other end of r open
	context.AfterFunc(ctx, s.abandon)
	if _, err := s.run(`set -m -o pipefail; trap 'jobs -p | xargs -r kill -9 2>/dev/null' EXIT; trap failed=1 ERR`); err != nil {
		return nil, err
	}
	return s, nil
}

// Close ends the shell and its jobs.
func (s *Shell) Close() {
	_ = s.in.Close()
	_ = s.cmd.Wait() // with the status of its last command
}

// Follow does what a page says, and returns an error that names the line of the page if a command
// fails or prints something else. said gets each step as it begins. programs are as in [Parse].
func (s *Shell) Follow(page string, said func(step Step), programs ...string) error {
	steps, err := Parse(page, programs...)
	if err != nil {
		return err
	}
	for _, step := range steps {
		said(step)
		if step.File != "" {
			err = s.save(step)
		} else {
			err = s.do(step)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", step.Line, err)
		}
	}
	return nil
}

// name is below the directory in which the shell is now.
func (s *Shell) save(step Step) error {
	dir, err := s.run("pwd")
	if err != nil {
		return err
	}
	file := filepath.Join(strings.TrimSpace(dir), step.File)
	text := step.Text
	if step.Edit {
		old, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if text, err = edited(string(old), step.Text); err != nil {
			return fmt.Errorf("%s: %w", step.File, err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o600)
}

func (s *Shell) do(step Step) error {
	out, err := s.run(step.Text)
	if err != nil {
		return fmt.Errorf("%w\n$ %s%s", err, step.Text, out)
	}
	if step.Compared && !Matches(out, step.Output) {
		return fmt.Errorf("the output differs\n$ %s--- printed:\n%s--- the page says:\n%s", step.Text, out, step.Output)
	}
	return nil
}

// patience is for the commands of one step.
const patience = 10 * time.Minute

// run fails if one of the commands fails. The shell forgets jobs that have ended, as an interactive
// one does before each prompt: their numbers are free again.
func (s *Shell) run(commands string) (string, error) {
	defer time.AfterFunc(patience, s.abandon).Stop() // for an open quote, as for a command that hangs
	if _, err := fmt.Fprintf(s.in, "failed=0\n{\n%s\n} </dev/null\njobs >/dev/null 2>&1; echo; echo %s $failed\n", strings.TrimSuffix(commands, "\n"), s.ended); err != nil {
		return "", fmt.Errorf("walkthrough: the shell has ended: %w", err)
	}
	var out strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			return out.String(), fmt.Errorf("walkthrough: the shell has ended: %w", err)
		}
		status, ok := strings.CutPrefix(line, s.ended+" ")
		if !ok {
			out.WriteString(line)
			continue
		}
		printed := strings.TrimSuffix(out.String(), "\n") // the echo before the status
		if code, err := strconv.Atoi(strings.TrimSpace(status)); err != nil || code != 0 {
			return printed, errors.New("a command has failed")
		}
		return printed, nil
	}
}
