package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/understudy-go/understudy/cmd/understudy/internal/report"
	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
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

// The message of a dead letter has a number that begins with d.
func resend(ctx context.Context, c *command) (int, error) {
	number, err := c.number()
	if err != nil {
		return wrong, err
	}
	letter, err := c.client.Resend(ctx, number)
	switch {
	case err != nil:
		return wrong, err
	case letter == nil:
		return fine, c.handled(number, "sent again")
	}
	ok := letter.Outcome == status.Delivered || letter.Outcome == status.Sent
	return codeOf(ok), c.print(letter, func(w io.Writer) error { return writeResent(w, *letter) })
}

func writeResent(to io.Writer, r status.Resent) error {
	text := r.Outcome
	switch r.Outcome {
	case status.Delivered:
		text = "delivered to " + r.To
	case status.Sent:
		text = "sent to " + r.To + "; if it does not arrive, it is a dead letter again, on the node that finds out"
	case status.HandlerFailed:
		text = "delivered to " + r.To + ", whose handler has failed at it: " + r.Reason
	case status.DeadAgain:
		text = "a dead letter again"
		if r.Again != "" {
			text += ", " + r.Again
		}
		text += ": " + r.Reason
	}
	_, err := fmt.Fprintf(to, "message %s is %s\n", r.Number, printable(text))
	return err
}

func discard(ctx context.Context, c *command) (int, error) {
	number, err := c.number()
	if err == nil {
		err = c.client.Discard(ctx, number)
	}
	if err != nil {
		return wrong, err
	}
	return fine, c.handled(number, "discarded")
}

func (c *command) number() (string, error) {
	number := c.arg()
	if _, err := strconv.ParseUint(strings.TrimPrefix(number, "d"), 10, 64); err != nil {
		return "", lineError{fmt.Errorf("%q is no number of a message; understudy given-up and understudy dead-letters list them", number)}
	}
	return number, nil
}

type handledMessage struct {
	Number  json.RawMessage `json:"number"` // a text for a dead letter
	Outcome string          `json:"outcome"`
}

func (c *command) handled(number, outcome string) error {
	raw := json.RawMessage(number)
	if strings.HasPrefix(number, "d") {
		raw = json.RawMessage(strconv.Quote(number))
	}
	return c.print(handledMessage{raw, outcome}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "message %s is %s\n", number, outcome)
		return err
	})
}
