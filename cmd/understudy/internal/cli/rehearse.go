package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/understudy-go/understudy/cmd/understudy/internal/client"
	"github.com/understudy-go/understudy/cmd/understudy/internal/rehearse"
	"github.com/understudy-go/understudy/cmd/understudy/internal/roll"
	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

func tryUpgrade(ctx context.Context, c *command) (int, error) {
	if c.old == "" || c.now == "" || c.journal == "" {
		_, _ = fmt.Fprintln(c.Stderr, "understudy: say: understudy rehearse -old FILE -new FILE -journal FILE")
		return usage, errUsage
	}
	if err := c.checkRoll(); err != nil {
		return wrong, lineError{err}
	}
	rolls, err := c.rolls()
	if err != nil {
		return wrong, err
	}
	res, err := rehearse.Run(ctx, rehearse.Config{
		Roll: rolls,
		Old:  c.old, New: c.now, Journal: c.journal, Sample: c.sample, IDs: c.ids, Accept: c.accept,
		Progress: func(text string) { _, _ = fmt.Fprintln(c.Stderr, printable(text)) },
	})
	if err != nil {
		return wrong, err
	}
	return codeOf(res.OK), c.print(res, func(w io.Writer) error { return writeRehearsal(w, res) })
}

func (c *command) checkRoll() error {
	if c.sample < 0 {
		return errors.New("-sample must not be negative; 0 tries all ids")
	}
	if c.roll == "" {
		for _, name := range []string{"load", "page", "nodes", "settle"} {
			if c.given[name] {
				return fmt.Errorf("-%s is for the nodes of -roll: say how one is started", name)
			}
		}
		return nil
	}
	if c.nodes < 2 || c.settle <= 0 {
		return errors.New("-nodes must be at least 2, and -settle positive")
	}
	return roll.Check(c.roll, c.load, c.page)
}

// rolls returns how a cluster is rolled, or nil.
func (c *command) rolls() (*roll.Config, error) {
	if c.roll == "" {
		return nil, nil //nolint:nilnil // it says so
	}
	if strings.Contains(c.journal, "://") {
		if err := c.confirm("The nodes of -roll write to the journal at the URL, and take its ids over from all other processes.\n"+
			"Do this only with a copy that nothing else uses. Type yes to do it: ", "yes"); err != nil {
			return nil, fmt.Errorf("-roll writes to the journal at the URL, which must be a copy that nothing else uses: %w", err)
		}
	}
	return &roll.Config{
		Line: c.roll, Load: c.load, Nodes: c.nodes, Within: c.settle, URL: c.page,
		Client: client.Config{Header: c.header, User: c.user, CA: c.ca, Timeout: c.timeout},
	}, nil
}

func writeRehearsal(to io.Writer, res rehearse.Result) error {
	var b strings.Builder
	for _, group := range []struct {
		title string
		all   []rehearse.Finding
	}{{"PROBLEM", res.Problems}, {"accepted", res.Accepted}, {"note", res.Notes}} {
		for _, f := range group.all {
			writeFinding(&b, group.title, f)
		}
	}
	if err := writeSteps(&b, res); err != nil {
		return err
	}
	verdict := "No problem"
	if n := len(res.Problems); n > 0 {
		verdict = counted(n, "problem")
	}
	_, _ = fmt.Fprintf(&b, "%s, %s. %s, %s and %s were tried in %s.\n", verdict, counted(len(res.Notes), "note"),
		counted(res.IDs, "id"), counted(int(res.Events), "event"), counted(int(res.Snapshots), "snapshot"), //nolint:gosec // counts
		time.Duration(res.Seconds*float64(time.Second)).Round(100*time.Millisecond))
	if res.Untried > 0 {
		_, _ = fmt.Fprintf(&b, "Of %s no part of rehearsal.Serve has the actors, so their events were only decoded.\n", counted(res.Untried, "id"))
	}
	_, err := io.WriteString(to, b.String())
	return err
}

func writeSteps(to io.Writer, res rehearse.Result) error {
	if len(res.Steps) == 0 {
		return nil
	}
	t := newTable(to)
	t.row("STEP", "SECONDS", "VERSIONS", "RESULT")
	for _, s := range res.Steps {
		result := "fine"
		if !s.OK {
			result = "PROBLEM"
		}
		t.row(s.Name, strconv.FormatFloat(s.Seconds, 'f', 1, 64), strings.Join(s.Versions, ", "), result)
	}
	if err := t.flush(); err != nil {
		return err
	}
	_, err := io.WriteString(to, "\n")
	if res.Requests > 0 {
		_, err = fmt.Fprintf(to, "The nodes have answered %s.\n", counted(res.Requests, "request"))
	}
	return err
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func writeFinding(b *strings.Builder, title string, f rehearse.Finding) {
	_, _ = fmt.Fprintf(b, "%s  %s\n  %s", title, printable(f.Key), printable(f.Text))
	if f.IDs > 0 {
		_, _ = fmt.Fprintf(b, " %s:", counted(f.IDs, "id"))
	}
	b.WriteString("\n")
	for _, e := range f.Examples {
		_, _ = fmt.Fprintf(b, "  - %s\n", printable(exampleText(e, f.Kind)))
	}
	b.WriteString("\n")
}

func exampleText(e rehearse.Example, kind string) string {
	if e.ID == "" && e.Text != "" {
		return e.Text
	}
	text := e.ID
	if e.Seq > 0 {
		text += fmt.Sprintf(", event %d", e.Seq)
	}
	if e.Path != "" {
		text += ", " + e.Path
	}
	if e.Text != "" {
		return text + ": " + e.Text
	}
	switch {
	case e.Old == "" && e.New == "":
		return text
	case kind == "stale":
		return fmt.Sprintf("%s: by a snapshot %s, by the events %s", text, e.Old, e.New)
	}
	return fmt.Sprintf("%s: old %s, new %s", text, e.Old, e.New)
}

// offline returns an entity from a journal, by a program that calls rehearsal.Serve.
func (c *command) offline(ctx context.Context, typ, id string) (e status.Entity, err error) {
	if c.journal == "" {
		return e, lineError{errors.New("name a copy of the journal, too: -journal FILE")}
	}
	query := client.EntityQuery(typ, id, c.at, c.since, c.events)
	data, err := rehearse.Entity(ctx, c.program, c.journal, query.Encode())
	if err != nil {
		return e, err
	}
	return e, json.Unmarshal(data, &e)
}
