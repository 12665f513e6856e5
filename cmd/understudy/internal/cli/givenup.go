package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/understudy-go/understudy/cmd/understudy/internal/report"
)

func showGivenUp(ctx context.Context, c *command) (int, error) {
	nodes, silent, err := c.client.GivenUp(ctx)
	if err != nil {
		return wrong, err
	}
	all := report.GivenUpOf(nodes, silent, c.arg())
	return fine, c.print(all, func(w io.Writer) error { return writeGivenUp(w, all) })
}

func writeGivenUp(to io.Writer, all report.GivenUp) error {
	t := newTable(to)
	if len(all.Messages) > 0 {
		t.row("GIVEN UP", "NODE", "NUMBER", "SINGLETON", "TYPE", "REASON")
	}
	for _, m := range all.Messages {
		t.row(m.Time.Local().Format(time.DateTime), m.Node, strconv.FormatUint(m.Number, 10), m.Singleton, m.Type, m.Reason)
	}
	if err := t.flush(); err != nil {
		return err
	}
	if len(all.Messages) == 0 {
		if _, err := fmt.Fprintln(to, "No message is put aside."); err != nil {
			return err
		}
	}
	return writeSilent(to, all.Silent)
}

func writeSilent(to io.Writer, silent []string) error {
	for _, line := range silent {
		if _, err := fmt.Fprintf(to, "Not all nodes have answered: %s\n", printable(line)); err != nil {
			return err
		}
	}
	return nil
}

func resend(ctx context.Context, c *command) (int, error) {
	return c.message(ctx, c.client.Resend, "sent again")
}

func discard(ctx context.Context, c *command) (int, error) {
	return c.message(ctx, c.client.Discard, "discarded")
}

type handledMessage struct {
	Number  uint64 `json:"number"`
	Outcome string `json:"outcome"`
}

func (c *command) message(ctx context.Context, act func(context.Context, uint64) error, outcome string) (int, error) {
	number, err := strconv.ParseUint(c.arg(), 10, 64)
	if err != nil {
		return wrong, fmt.Errorf("%q is no number of a message; understudy given-up lists them", c.arg())
	}
	if err := act(ctx, number); err != nil {
		return wrong, err
	}
	return fine, c.print(handledMessage{number, outcome}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "message %d is %s\n", number, outcome)
		return err
	})
}
