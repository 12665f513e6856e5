package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/understudy-go/understudy/cmd/understudy/internal/client"
	"github.com/understudy-go/understudy/cmd/understudy/internal/report"
	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// drain reports progress on standard error.
func drain(ctx context.Context, c *command) (int, error) {
	within, cancel := context.WithTimeout(ctx, c.within)
	defer cancel()
	last := ""
	progress := func(s status.Snapshot) {
		if text := printable(leaving(s)); text != last {
			_, _ = fmt.Fprintln(c.Stderr, text) // the caller may have closed it
			last = text
		}
	}
	done, err := c.client.Drain(within, !c.noWait, progress)
	if errors.Is(err, context.DeadlineExceeded) {
		return wrong, fmt.Errorf("%s has not left within %v; it goes on leaving", done.Node, c.within)
	}
	if err != nil {
		return wrong, err
	}
	return fine, c.print(done, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, printable(drained(done)))
		return err
	})
}

func leaving(s status.Snapshot) string {
	var here []string
	for _, one := range s.Singletons {
		if one.Here {
			here = append(here, one.Name)
		}
	}
	text := s.Self.Name + " is " + s.Self.Status
	if len(here) > 0 {
		text += ", still runs " + strings.Join(here, ", ")
	}
	return text
}

func drained(d client.Drain) string {
	switch d.Outcome {
	case client.Left:
		return fmt.Sprintf("%s has left after %.1f s; its program still runs", d.Node, d.Seconds)
	case client.Ended:
		return fmt.Sprintf("%s does not answer any more after %.1f s; its program has closed the status page, and may still be ending", d.Node, d.Seconds)
	case client.Restarted:
		return fmt.Sprintf("%s has left and runs again after %.1f s", d.Node, d.Seconds)
	}
	return d.Node + " begins to leave"
}

type taken struct {
	Member string `json:"member"`
	By     string `json:"by"`
}

func down(ctx context.Context, c *command) (int, error) {
	s, err := c.client.Status(ctx)
	if err != nil {
		return wrong, err
	}
	member := c.arg()
	if err := report.CanBeDowned(s, member); err != nil {
		return wrong, err
	}
	if err := c.confirm(fmt.Sprintf("%s takes %s down: the cluster goes on without it, and others start what ran there.\n"+
		"Do this only if it does not run any more. Type its name to do it: ", printable(s.Self.Name), printable(member)), member); err != nil {
		return wrong, err
	}
	if err := c.client.Down(ctx, member); err != nil {
		return wrong, err
	}
	return fine, c.print(taken{member, s.Self.Name}, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, printable(s.Self.Name+" takes "+member+" down"))
		return err
	})
}

func (c *command) confirm(question, answer string) error {
	if c.yes {
		return nil
	}
	if !c.Terminal {
		return errors.New("there is no terminal to ask for confirmation; pass -yes")
	}
	_, _ = fmt.Fprint(c.Stderr, question) // an answer to nothing is no confirmation either
	line, err := bufio.NewReader(c.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if strings.TrimSpace(line) != answer {
		return errors.New("not confirmed, nothing was done")
	}
	return nil
}
