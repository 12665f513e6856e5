package cli

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/understudy-go/understudy/cmd/understudy/internal/client"
	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

func runFlags(set *flag.FlagSet, o *options) {
	set.StringVar(&o.state, "state", "", "only runs in this `state`: running, held, compensating, done, failed or cancelled")
	set.StringVar(&o.tag, "tag", "", "only runs with this `tag`")
	limitFlag(set, o)
}

func steerFlags(set *flag.FlagSet, o *options) {
	set.StringVar(&o.do, "do", "", "`cancel`, fail, retry or resume")
	set.StringVar(&o.step, "step", "", "the `name` of the step from which to resume")
	set.StringVar(&o.why, "why", "", "the `reason`, which is stored with the run")
}

func showRuns(ctx context.Context, c *command) (int, error) {
	typ, id, one := strings.Cut(c.arg(), "/")
	if typ == "" {
		return usage, lineError{errors.New("name the type of the runs, such as order, or one run, such as order/4711")}
	}
	if one {
		r, err := c.client.Run(ctx, typ, id)
		if err != nil {
			return wrong, err
		}
		return fine, c.print(r, func(w io.Writer) error { return writeRun(w, r) })
	}
	all, err := c.client.Runs(ctx, typ, c.state, c.tag, c.limit)
	if err != nil {
		return wrong, err
	}
	return fine, c.print(all, func(w io.Writer) error { return writeRuns(w, all) })
}

func writeRuns(to io.Writer, all status.Runs) error {
	var counts []string
	for _, state := range []string{"running", "held", "compensating", "done", "failed", "cancelled"} {
		if n := all.Counts[state]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, state))
		}
	}
	if _, err := fmt.Fprintf(to, "%s: %s\n", printable(all.Type), cmp.Or(strings.Join(counts, ", "), "no runs")); err != nil || len(all.Runs) == 0 {
		return err
	}
	t := newTable(to)
	t.row("RUN", "STATE", "TAG", "BEGAN", "ENDED", "WHY")
	for _, r := range all.Runs {
		t.row(r.ID, r.State, r.Tag, r.Began.Local().Format(time.DateTime), moment(r.Ended), r.Error)
	}
	if err := t.flush(); err != nil || all.More == 0 {
		return err
	}
	_, err := fmt.Fprintf(to, "%d more are left out.\n", all.More)
	return err
}

func moment(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Local().Format(time.DateTime)
}

func writeRun(to io.Writer, r status.WorkflowRun) error {
	line := fmt.Sprintf("%s is %s since %s, with %d outcomes", r.ID, r.State, r.Began.Local().Format(time.DateTime), r.Outcomes)
	if r.Error != "" {
		line += ": " + r.Error
	}
	if r.Next != nil {
		line += "; tried again at " + moment(r.Next)
	}
	if _, err := fmt.Fprintln(to, printable(line)); err != nil {
		return err
	}
	if len(r.Unasked) > 0 {
		if _, err := fmt.Fprintf(to, "The program does not ask for outcomes that are stored: %s\n", printable(strings.Join(r.Unasked, ", "))); err != nil {
			return err
		}
	}
	if len(r.Steps) == 0 {
		return nil
	}
	t := newTable(to)
	t.row("STEP", "DOES", "ATTEMPT", "BEGUN", "NEXT", "LAST ERROR")
	for _, s := range r.Steps {
		attempt := ""
		if s.Attempt > 0 {
			attempt = strconv.Itoa(s.Attempt)
		}
		t.row(s.Name, s.Doing, attempt, moment(s.Begun), moment(s.Next), s.Error)
	}
	return t.flush()
}

// A steered names a run and its operation.
type steered struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	Do   string `json:"do"`
}

func steer(ctx context.Context, c *command) (int, error) {
	typ, id, one := strings.Cut(c.arg(), "/")
	if !one || typ == "" || id == "" || c.do == "" {
		return usage, lineError{errors.New("name the run and what shall be done, such as: understudy steer order/4711 -do cancel -why 'the customer has called'")}
	}
	who := ""
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	s := client.Steering{Do: c.do, Step: c.step, Who: who, Why: c.why}
	if err := c.client.Steer(ctx, typ, id, s); err != nil {
		return wrong, err
	}
	done := steered{typ, id, c.do}
	return fine, c.print(done, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s of %s is stored; understudy runs %s shows what follows\n", printable(c.do), printable(c.arg()), printable(c.arg()))
		return err
	})
}
