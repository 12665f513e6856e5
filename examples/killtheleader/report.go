package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/lab/page"
)

// A report has the trials of all opponents.
type report struct {
	settings

	began  time.Time
	trials []*trial
}

// pageBegin is the line of a page above its figures.
const pageBegin = "<!-- figures: go -C examples/killtheleader run . -page ../../docs/kill-the-leader.md -->\n"

// write prints the tables. With -page it also replaces the figures of the page, and writes the plot
// beside it.
func (r report) write(out io.Writer) error {
	_, _ = fmt.Fprintf(out, "\n%s\n%s%s", r.harm().text(), r.outages().text(), r.notes())
	if r.page == "" {
		return nil
	}
	if err := os.WriteFile(r.plotPath(), []byte(plot(r.trials)), 0o644); err != nil { //nolint:gosec // a picture for all to see
		return err
	}
	return page.Replace(r.page, pageBegin, r.figures())
}

func (r report) plotPath() string { return strings.TrimSuffix(r.page, ".md") + ".svg" }

// figures returns the tables and the plot in Markdown.
func (r report) figures() string {
	var b strings.Builder
	fmt.Fprintf(&b, "`go -C examples/killtheleader run . -rounds %d -rate %d -hold %v` took %v on %s. Machine: %s, %s/%s, %d processors; %s. Commit: %s.\n\n",
		r.rounds, r.rate, r.hold, time.Since(r.began).Round(time.Second), r.began.Format(time.DateOnly),
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), said("postgres", "--version"), said("git", "describe", "--always", "--dirty"))
	fmt.Fprintf(&b, "%s\nThe longest time without an acknowledged write, for each fault:\n\n%s\n%s\n", r.harm().markdown(), r.outages().markdown(), r.notes())
	fmt.Fprintf(&b, "![acknowledged writes over time, for each opponent](%s)\n", filepath.Base(r.plotPath()))
	return b.String()
}

// said returns the first line that a program prints; "unknown" if it fails.
func said(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return name + " unknown"
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

// notes says which trials ended early, and why.
func (r report) notes() string {
	var b strings.Builder
	for _, o := range r.trials {
		if o.stopped != nil {
			fmt.Fprintf(&b, "%s ended early: %v.\n", o.title, o.stopped)
		}
	}
	return b.String()
}

// harm is the table of what each opponent has done to the numbers.
func (r report) harm() table {
	t := table{{
		"", "outage p50", "outage max", "acknowledged writes", "of these lost", "duplicate numbers", "missing numbers",
		"writes of a replaced leader: accepted", "refused", "requests stored twice",
	}}
	for _, o := range r.trials {
		if o.skipped != nil {
			t = append(t, []string{o.title, o.skipped.Error()})
			continue
		}
		all, v := o.longest(""), o.verdict
		t = append(t, []string{
			o.title, seconds(median(all)), seconds(most(all)), fmt.Sprint(v.acked), fmt.Sprint(v.lost), fmt.Sprint(v.duplicates),
			fmt.Sprint(v.missing), fmt.Sprint(v.stale), fmt.Sprint(o.refused.Load()), fmt.Sprint(v.repeated),
		})
	}
	return t
}

// outages is the table of how long each fault has lasted for the client.
func (r report) outages() table {
	t := table{{""}}
	for _, f := range faults {
		t[0] = append(t[0], f.name)
	}
	for _, o := range r.trials {
		if o.skipped != nil {
			continue
		}
		line := []string{o.title}
		for _, f := range faults {
			var cell []string
			for _, d := range o.longest(f.name) {
				cell = append(cell, seconds(d))
			}
			line = append(line, strings.Join(cell, ", "))
		}
		t = append(t, line)
	}
	return t
}

// longest returns the outages of a fault, or of all faults if it is "".
func (t *trial) longest(fault string) (all []time.Duration) {
	for _, o := range t.outages {
		if fault == "" || o.fault == fault {
			all = append(all, o.longest)
		}
	}
	return all
}

func most(all []time.Duration) (longest time.Duration) {
	for _, d := range all {
		longest = max(longest, d)
	}
	return longest
}
