package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/understudy-go/understudy/cmd/understudy/internal/report"
	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

type table struct{ w *tabwriter.Writer }

func newTable(to io.Writer) table { return table{tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)} }

var spaces = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// Names and errors come from other nodes, and could break a table or control a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, spaces.Replace(text))
}

// Characters that could control a terminal occur in strings only.
func escaped(json []byte) string {
	var b strings.Builder
	for _, r := range string(json) {
		if r == '\n' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			_, _ = fmt.Fprintf(&b, `\u%04x`, unit) // to memory
		}
	}
	return b.String()
}

// An empty cell is a dash.
func (t table) row(cells ...string) {
	for i, cell := range cells {
		cells[i] = cmp.Or(printable(cell), "-")
	}
	_, _ = fmt.Fprintln(t.w, strings.Join(cells, "\t")) // Flush returns the error
}

func (t table) flush() error { return t.w.Flush() }

func writeSummary(to io.Writer, s report.Summary) error {
	t := newTable(to)
	t.row("cluster", s.Cluster)
	t.row("node", s.Node+", "+s.Status)
	t.row("members", counts(s.Members))
	if len(s.Unreachable) > 0 {
		t.row("unreachable", strings.Join(s.Unreachable, ", "))
	}
	t.row("agreed", yes(s.Converged))
	t.row("leader", s.Leader)
	t.row("singletons", strconv.Itoa(s.Singletons))
	if versions := strings.Join(s.AppVersions, ", "); versions != "" {
		t.row("versions", versions)
	}
	t.row("dead letters", strconv.FormatUint(s.DeadLetters, 10))
	if len(s.Links) > 0 {
		t.row("links", byState(s.Links, "connected"))
	}
	for _, j := range s.Journals {
		t.row("journal", fmt.Sprintf("%s: %d appends, %d errors, %d fenced writes", j.Journal, j.Appends, j.Errors, j.Fenced))
	}
	if len(s.Placed) > 0 {
		t.row("placed", byState(s.Placed, "running", "active"))
	}
	for _, b := range s.Backlogs {
		if text := backlog(b); text != "" {
			t.row("backlog", text)
		}
	}
	t.row("problems", strconv.Itoa(len(s.Problems)))
	if err := t.flush(); err != nil {
		return err
	}
	return writeProblems(to, s.Problems)
}

// backlog is "" if little waits: most actors have something to do now and then.
func backlog(b status.Backlog) string {
	const few, short = 100, 1
	var dropped uint64
	for _, n := range b.Dropped {
		dropped += n
	}
	if b.Waiting < few && b.OldestSeconds < short && dropped == 0 {
		return ""
	}
	text := fmt.Sprintf("%s on %s: %d waiting", b.Actor, b.Node, b.Waiting)
	if b.OldestSeconds > 0 {
		text += fmt.Sprintf(", the oldest request for %.1fs", b.OldestSeconds)
	}
	if dropped > 0 {
		text += fmt.Sprintf(", %d dropped", dropped)
	}
	return text
}

func counts(by map[string]int) string {
	return byState(by, "up", "joining", "leaving", "exiting", "down")
}

// The states of first come before the others.
func byState(by map[string]int, first ...string) string {
	var all []string
	for _, state := range slices.Concat(first, slices.Sorted(maps.Keys(by))) {
		text := fmt.Sprintf("%d %s", by[state], state)
		if by[state] > 0 && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func writeWhy(to io.Writer, why report.Why) error {
	for _, text := range why.Silent {
		if _, err := fmt.Fprintln(to, "not asked:", printable(text)); err != nil {
			return err
		}
	}
	if why.OK {
		see := "sees"
		if len(why.Nodes) > 1 {
			see = "see"
		}
		_, err := fmt.Fprintf(to, "Nothing is wrong, as %s %s it.\n", printable(strings.Join(why.Nodes, ", ")), see)
		return err
	}
	if len(why.Nodes) == 1 {
		return writeProblems(to, why.Problems)
	}
	for _, p := range why.Problems {
		if _, err := fmt.Fprintf(to, "%s (%s): %s\n", printable(p.Kind), printable(p.Node), printable(p.Text)); err != nil {
			return err
		}
	}
	return nil
}

func writeProblems(to io.Writer, problems []report.Problem) error {
	for _, p := range problems {
		if _, err := fmt.Fprintf(to, "%s: %s\n", printable(p.Kind), printable(p.Text)); err != nil {
			return err
		}
	}
	return nil
}

func writeMembers(to io.Writer, all report.Members) error {
	t := newTable(to)
	t.row("NO", "NAME", "ADDRESS", "STATUS", "REACHABLE", "ROLES", "VERSION", "NOTES")
	for _, m := range all.Members {
		number, reachable := strconv.FormatUint(m.Number, 10), yes(m.Reachable)
		if m.Number == 0 {
			number = ""
		}
		if !m.Reachable {
			reachable = "not by " + strings.Join(m.UnreachableBy, ", ")
		}
		var notes []string
		if m.Leader {
			notes = append(notes, "leader")
		}
		if m.Asked {
			notes = append(notes, "asked")
		}
		t.row(number, m.Name, m.Address, m.Status, reachable, strings.Join(m.Roles, ","), m.AppVersion, strings.Join(notes, ", "))
	}
	return t.flush()
}

func writeSingletons(to io.Writer, all report.Singletons) error {
	t := newTable(to)
	t.row("NAME", "HOST", "RUNNING", "GENERATION", "STARTS", "FAILURES", "HELD", "PHASE", "PLACEMENT", "LEASE")
	for _, s := range all.Singletons {
		t.row(s.Name, s.Host, yes(s.Running), s.Generation, strconv.FormatUint(s.Starts, 10), strconv.FormatUint(s.Failures, 10),
			strconv.Itoa(s.Held), s.Phase, s.Placement, s.Lease)
	}
	if err := t.flush(); err != nil {
		return err
	}
	for _, s := range all.Singletons {
		if s.Problem != "" {
			if _, err := fmt.Fprintln(to, printable(s.Problem)); err != nil {
				return err
			}
		}
	}
	if all.LeftOut == 0 {
		return nil
	}
	_, err := fmt.Fprintf(to, "%d more are left out. Those with problems are listed first.\n", all.LeftOut)
	return err
}

func writeEntities(to io.Writer, all report.Entities) error {
	if len(all.Types) == 0 {
		_, err := fmt.Fprintln(to, "The node has started no type of entities.")
		return err
	}
	t := newTable(to)
	t.row("TYPE", "SHARDS", "HOMELESS", "HERE", "AWAKE", "HELD", "DROPPED", "FAILURES", "HOMES")
	for _, of := range all.Types {
		var homes []string
		for _, h := range of.Homes {
			homes = append(homes, fmt.Sprintf("%s %d", cmp.Or(h.Name, h.ID), h.Shards))
		}
		t.row(of.Name, strconv.Itoa(of.Shards), strconv.Itoa(of.Homeless), strconv.Itoa(of.Here), strconv.Itoa(of.Awake), strconv.Itoa(of.Held),
			strconv.FormatUint(of.AllDropped(), 10), strconv.FormatUint(of.Failures, 10), strings.Join(homes, ", "))
	}
	return t.flush()
}

func writeSchedules(to io.Writer, all report.Schedules) error {
	if len(all.Schedules) == 0 {
		_, err := fmt.Fprintln(to, "The node has started no schedule.")
		return err
	}
	t := newTable(to)
	t.row("SCHEDULE", "ENTRY", "DUE", "ZONE", "NEXT", "OPEN", "DONE", "FAILED", "SKIPPED", "LAST")
	for _, s := range all.Schedules {
		if !s.Here {
			t.row(s.Name, "on another node", "", "", "", "", "", "", "", "")
		}
		for _, e := range s.Entries {
			t.row(s.Name, e.Name, e.Spec, cmp.Or(e.Zone, "UTC"), nextRun(e), strconv.Itoa(len(e.Open)), strconv.FormatUint(e.Counts["done"], 10),
				strconv.FormatUint(e.Counts["failed"], 10), strconv.FormatUint(e.Counts["missed"]+e.Counts["overlapped"], 10), lastRun(e))
		}
	}
	return t.flush()
}

func nextRun(e status.Entry) string {
	switch {
	case e.Problem != "":
		return "never: " + e.Problem
	case e.Paused:
		return "paused"
	case e.Next == nil:
		return "never"
	}
	return e.Next.UTC().Format("2006-01-02 15:04:05Z")
}

func lastRun(e status.Entry) string {
	switch {
	case e.Last == nil:
		return ""
	case e.Last.Error != "":
		return e.Last.Outcome + ": " + e.Last.Error
	}
	return e.Last.Outcome
}

// The times of several nodes are compared.
const exact = "2006-01-02 15:04:05.000"

func writeEvents(to io.Writer, all report.Events) error {
	t := newTable(to)
	t.row("LAST", "NODE", "COUNT", "WHAT", "ABOUT", "WHY")
	for _, e := range all.Events {
		t.row(e.Last.Local().Format(exact), e.Node, strconv.FormatUint(e.Count, 10), e.Kind, e.Subject, e.Reason)
	}
	if err := t.flush(); err != nil {
		return err
	}
	return writeSilent(to, all.Silent)
}

func writeDeadLetters(to io.Writer, all status.DeadLetters) error {
	t := newTable(to)
	if len(all.ByReason) == 0 {
		_, err := fmt.Fprintln(to, "Every message on this node was delivered.")
		return err
	}
	for _, reason := range slices.Sorted(maps.Keys(all.ByReason)) {
		t.row(strconv.FormatUint(all.ByReason[reason], 10), reason)
	}
	if err := t.flush(); err != nil || len(all.Letters) == 0 {
		return err
	}
	if _, err := fmt.Fprintln(to); err != nil {
		return err
	}
	keeps := slices.ContainsFunc(all.Letters, func(l status.DeadLetter) bool { return keptText(l) != "" })
	t = newTable(to)
	row := func(kept string, cells ...string) {
		if keeps {
			cells = append([]string{kept}, cells...)
		}
		t.row(cells...)
	}
	row("MESSAGE", "LAST", "COUNT", "RECIPIENT", "SENDER", "TYPE", "REASON")
	for _, l := range all.Letters {
		row(keptText(l), l.Last.Format(time.DateTime), strconv.FormatUint(l.Count, 10), l.Recipient, l.Sender, l.Type, cmp.Or(l.Text, l.Reason))
	}
	if err := t.flush(); err != nil || all.LeftOut == 0 {
		return err
	}
	_, err := fmt.Fprintf(to, "%d older ones are left out by -limit.\n", all.LeftOut)
	return err
}

// keptText is "" for all letters of a node that keeps no messages.
func keptText(l status.DeadLetter) string {
	var text string
	switch n := len(l.Numbers); {
	case n > 1:
		text = fmt.Sprintf("%s to %s, %d in all", l.Numbers[0], l.Numbers[n-1], n)
	case n == 1:
		text = l.Numbers[0]
	case l.NotKept != "":
		return "not kept: " + l.NotKept
	default:
		return ""
	}
	if l.Asked {
		text += " (its ask has ended)"
	}
	return text
}

func writeSafe(to io.Writer, s report.Safe) error {
	answer := "yes: %s can be restarted now\n"
	if !s.Safe {
		answer = "no: %s should not be restarted now\n"
	}
	if _, err := fmt.Fprintf(to, answer, printable(s.Node)); err != nil {
		return err
	}
	for _, line := range slices.Concat(s.Reasons, s.Notes) {
		if _, err := fmt.Fprintln(to, "-", printable(line)); err != nil {
			return err
		}
	}
	return nil
}
