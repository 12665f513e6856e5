package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/understudy-go/understudy/cmd/understudy/internal/client"
	"github.com/understudy-go/understudy/cmd/understudy/internal/report"
	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

func showProjections(ctx context.Context, c *command) (int, error) {
	all, err := report.AskProjections(ctx, c.client.Each(), c.arg())
	if err != nil {
		return wrong, err
	}
	return fine, c.print(all, func(w io.Writer) error { return writeProjections(w, all) })
}

func writeProjections(to io.Writer, all report.Projections) error {
	t := newTable(to)
	if len(all.Projections) > 0 {
		t.row("PROJECTION", "NODE", "LAG", "EVENTS", "SKIPPED", "FAILURES", "HELD", "FAILURE")
	}
	held := false
	for _, p := range all.Projections {
		lag := time.Duration(p.LagSeconds * float64(time.Second)).Round(time.Millisecond)
		failure := p.Failure
		if len(p.HeldIDs) > 0 && p.Stalled == 0 {
			failure = "" // it is below
		}
		t.row(p.Name, p.Node, lag.String(), strconv.FormatUint(p.Events, 10), strconv.FormatUint(p.Skipped, 10), strconv.FormatUint(p.Failures, 10), strconv.Itoa(p.Held), failure)
		held = held || len(p.HeldIDs) > 0
	}
	if err := t.flush(); err != nil {
		return err
	}
	if len(all.Projections) == 0 {
		if _, err := fmt.Fprintln(to, "No projection runs on the nodes that were asked."); err != nil {
			return err
		}
	}
	if held {
		if err := writeHeld(to, all); err != nil {
			return err
		}
	}
	return writeSilent(to, all.Silent)
}

func writeHeld(to io.Writer, all report.Projections) error {
	if _, err := fmt.Fprintln(to); err != nil {
		return err
	}
	t := newTable(to)
	t.row("HELD BACK", "PROJECTION", "FROM", "TO", "REASON")
	left := 0
	for _, p := range all.Projections {
		for _, h := range p.HeldIDs {
			t.row(h.ID, p.Name, strconv.FormatUint(h.From, 10), strconv.FormatUint(h.Last, 10), h.Failure)
		}
		left += p.Held - len(p.HeldIDs)
	}
	if err := t.flush(); err != nil || left <= 0 {
		return err
	}
	_, err := fmt.Fprintf(to, "%d more ids are held back.\n", left)
	return err
}

// A retried is the answer of a node that runs the projection.
type retried struct {
	Node string `json:"node"`
	status.Retried
}

type retriedNodes struct {
	Retried []retried `json:"retried"`
}

// retry asks each node that runs the projection. Others have nothing to do with it.
func retry(ctx context.Context, c *command) (int, error) {
	answers := retriedNodes{Retried: []retried{}}
	code := fine
	var failed error
	for _, one := range c.client.Each() {
		found, err := report.AskProjections(ctx, []*client.Client{one}, c.arg())
		if err != nil {
			failed = errors.Join(failed, one.Failed(err))
			continue
		}
		r, err := one.Retry(ctx, c.arg())
		if err != nil {
			return wrong, one.Failed(err)
		}
		answers.Retried = append(answers.Retried, retried{found.Projections[0].Node, r})
		code = max(code, codeOf(r.Done && r.Held == 0))
	}
	if len(answers.Retried) == 0 {
		return wrong, failed
	}
	return code, c.print(answers, func(w io.Writer) error { return writeRetried(w, answers) })
}

func writeRetried(to io.Writer, all retriedNodes) error {
	for _, r := range all.Retried {
		text := "holds nothing back any more"
		switch {
		case !r.Done:
			text = "has not tried all yet; understudy projections shows how it goes on"
		case r.Held == 1:
			text = "still holds the events of 1 id back; understudy projections says why"
		case r.Held > 0:
			text = fmt.Sprintf("still holds the events of %d ids back; understudy projections says why", r.Held)
		}
		if _, err := fmt.Fprintf(to, "%s on %s %s\n", printable(r.Projection), printable(r.Node), text); err != nil {
			return err
		}
	}
	return nil
}
