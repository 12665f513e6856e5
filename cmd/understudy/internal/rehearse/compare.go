package rehearse

import (
	"fmt"
	"slices"
	"strings"
)

// A comparison compares what two builds make of the same ids.
type comparison struct {
	*findings
	now *hello // of the new build
	// again returns the report of another run of the old build.
	again func(id string) (*report, error)
	// Patterns of paths that differ from run to run, by part. Up to sure ids are run again for one.
	random map[string]bool
	runs   map[string]int
}

const sure = 3

// stale is the kind of findings whose examples have the state by a snapshot as the old one, and the
// state by the events as the new one.
const stale = "stale"

var kindText = map[string]string{
	"journal":  "The new build cannot read what is stored.",
	"event":    "The new build cannot decode events of this type.",
	"handler":  "The event handler of the new build fails for events of this type.",
	"encoding": "The new build refuses to store what it makes of this.",
	"snapshot": "The new build cannot decode snapshots of this type. A recovery uses an older one, or the events.",
	"timer":    "The new build cannot decode the messages of stored timers of this type.",
}

var backText = map[string]string{
	"journal":  "The old build cannot read what the new one stores.",
	"event":    "The old build cannot decode what the new one stores in place of these events.",
	"handler":  "The event handler of the old build fails for what the new one stores in place of these events.",
	"encoding": "The old build refuses to store what it makes of what the new one stores.",
	"snapshot": "The old build cannot decode the snapshots of the new one.",
}

// read compares what the builds read of an id. It reports whether it makes sense to let the old
// build read what the new one writes.
func (c *comparison) read(old, now *report) (bool, error) {
	e := Example{ID: old.ID}
	switch {
	case old.Part != "" && now.Part == "":
		c.problem("id", old.Part, "", "No part of the new build has these ids, so nobody reads what is stored under them.", e)
		return false, nil
	case old.Error == "" && now.Error != "":
		e.Text = now.Error
		c.problem("actor", now.Part, "", "The new build cannot start these actors.", e)
		return false, nil
	case now.Error != "":
		e.Text = now.Error
		c.note("actor", now.Part, "", "Neither build can start these actors, so nothing was compared.", e)
		return false, nil
	case old.Error == "" && now.Uses != old.Uses && old.Part != "":
		e.Old, e.New = old.Uses, now.Uses
		c.problem("id", now.Part, "", "The new build keeps the events of these actors under other ids, so they begin anew.", e)
		return false, nil
	}
	c.faults(old, now)
	c.tags(old, now)
	if old.Part == "" || old.Error != "" {
		return false, nil
	}
	if err := c.states(old, now); err != nil {
		return false, err
	}
	return len(now.Faults) == 0 && (now.Wrote > 0 || now.Saved != "" && now.Saved != old.Saved), nil
}

func (c *comparison) faults(old, now *report) {
	for _, f := range now.Faults {
		e := Example{ID: now.ID, Seq: f.Seq, Text: f.Text}
		known := slices.ContainsFunc(old.Faults, func(o fault) bool { return o.Kind == f.Kind && o.Seq == f.Seq })
		if known {
			c.note(f.Kind, now.Part, f.Type, "Neither build can use this.", e)
			continue
		}
		c.problem(f.Kind, now.Part, f.Type, kindText[f.Kind], e)
	}
}

// tags reports events that the new build would tag otherwise than the old one. Projections find
// events by their tags.
func (c *comparison) tags(old, now *report) {
	for _, n := range now.Tagged {
		was := n.Was
		for _, o := range old.Tagged {
			if o.Type == n.Type && slices.Equal(o.Was, n.Was) {
				was = o.Now
			}
		}
		e := Example{ID: now.ID, Seq: n.Seq, Old: shown(was), New: shown(n.Now)}
		missing := slices.ContainsFunc(was, func(tag string) bool { return !slices.Contains(n.Now, tag) })
		switch {
		case missing:
			c.problem("tags", now.Part, n.Type, "The new build does not give such events all tags that the old one gives them, so projections by those tags miss them.", e)
		case !slices.Equal(was, n.Now):
			c.note("tags", now.Part, n.Type, "The new build gives such events more tags. Those that are stored do not get them.", e)
		}
	}
}

// states compares the states of both builds, and those of the new one by snapshots and by events.
func (c *comparison) states(old, now *report) error {
	found := diff(old.Alone, now.Alone, false)
	if !old.Replays || !now.Replays {
		found = nil
	}
	if old.Recovers && now.Recovers {
		found = append(found, diff(old.State, now.State, false)...)
	}
	found, err := c.sound(old, found)
	if err != nil {
		return err
	}
	differ := map[string]bool{}
	for _, d := range found {
		e := Example{ID: old.ID, Path: d.path, Old: shown(d.old), New: shown(d.now)}
		if d.gone {
			c.note("gone", old.Part, d.pattern, "The state of the new build has not got this field.", e)
			continue
		}
		differ[d.pattern] = true
		c.problem("state", old.Part, d.pattern, "The builds make different states of the same events.", e)
	}
	if !now.Recovers || !now.Replays {
		return nil
	}
	before := patterns(diff(old.State, old.Alone, true))
	for _, d := range diff(now.State, now.Alone, true) {
		e := Example{ID: old.ID, Path: d.path, Old: shown(d.old), New: shown(d.now)}
		switch {
		case differ[d.pattern], c.random[old.Part+"\x00"+d.pattern]:
		case before[d.pattern]:
			c.note(stale, old.Part, d.pattern, "With both builds, a snapshot leads to another state than the events.", e)
		case strings.Contains(d.pattern, "~"):
			c.note(stale, old.Part, d.pattern, "No snapshot has this field, so it is zero after a recovery from one.", e)
		default:
			c.problem(stale, old.Part, d.pattern, "With the new build, a snapshot leads to another state than the events, because it lacks what the event handler computes now. Delete the snapshots, or compute the field from what they have.", e)
		}
	}
	return nil
}

func patterns(all []difference) map[string]bool {
	set := map[string]bool{}
	for _, d := range all {
		set[d.pattern] = true
	}
	return set
}

// sound returns the differences that are not there between two runs of the old build.
func (c *comparison) sound(old *report, found []difference) ([]difference, error) {
	if slices.ContainsFunc(found, func(d difference) bool { return c.runs[old.Part+"\x00"+d.pattern] < sure }) {
		again, err := c.again(old.ID)
		if err != nil {
			return nil, err
		}
		for _, d := range append(diff(old.State, again.State, true), diff(old.Alone, again.Alone, true)...) {
			if key := old.Part + "\x00" + d.pattern; !c.random[key] {
				c.random[key] = true
				c.note("random", old.Part, d.pattern, "Two runs of the old build make different states of the same events, so this was not compared. An event handler must depend on nothing else.",
					Example{ID: old.ID, Path: d.path, Old: shown(d.old), New: shown(d.now)})
			}
		}
		for key := range patterns(found) {
			c.runs[old.Part+"\x00"+key]++
		}
	}
	return slices.DeleteFunc(found, func(d difference) bool { return c.random[old.Part+"\x00"+d.pattern] }), nil
}

// back compares what the old build makes of an id with what it makes of it once the new build has
// written it.
func (c *comparison) back(old, now, back *report) {
	if back.Error != "" {
		c.problem("rollback", old.Part, "", "The old build cannot start these actors once the new one has written.", Example{ID: old.ID, Text: back.Error})
		return
	}
	failed := false
	for _, f := range back.Faults {
		if slices.ContainsFunc(old.Faults, func(o fault) bool { return o.Kind == f.Kind && o.Seq == f.Seq }) {
			continue
		}
		failed = true
		c.problem("rollback", old.Part, f.Type, backText[f.Kind], Example{ID: old.ID, Seq: f.Seq, Text: f.Text})
	}
	if failed {
		return
	}
	known := patterns(append(diff(old.State, now.State, false), diff(old.Alone, now.Alone, false)...))
	for _, pair := range []struct {
		text string
		all  []difference
	}{
		{"After a snapshot of the new build, the state of the old one has another value.", backDiff(old.Recovers && back.Recovers, old.State, back.State)},
		{"After events that the new build has written, the state of the old one has another value.", backDiff(old.Replays && back.Replays, old.Alone, back.Alone)},
	} {
		for _, d := range pair.all {
			if c.random[old.Part+"\x00"+d.pattern] || known[d.pattern] && !d.gone && c.problems["state:"+old.Part+":"+d.pattern] != nil {
				continue
			}
			c.problem("rollback", old.Part, d.pattern, pair.text, Example{ID: old.ID, Path: d.path, Old: shown(d.old), New: shown(d.now)})
		}
	}
	c.changes(old, back)
}

func backDiff(both bool, old, back []byte) []difference {
	if !both {
		return nil
	}
	return diff(old, back, true)
}

// changes reports events that the old build reads as others. A field that the new build has not got
// is a note: the states have been compared.
func (c *comparison) changes(old, back *report) {
	for _, ch := range back.Changes {
		for _, d := range diff(ch.Before, ch.After, true) {
			e := Example{ID: old.ID, Seq: ch.Seq, Path: d.path, Old: shown(d.old), New: shown(d.now)}
			if f := c.now.Forms[ch.Type]; f != nil && !has(f, d.pattern) {
				c.note("field", ch.Type, d.pattern, "The new build has not got this field. An older build reads zero.", e)
				continue
			}
			c.problem("rollback", ch.Type, d.pattern, "The old build reads another value in events that the new one has written.", e)
		}
	}
}

// has reports whether a form has the field at a path.
func has(f *form, path string) bool {
	for path != "" && f != nil {
		if rest, ok := strings.CutPrefix(path, "[]"); ok {
			f, path = f.Elem, strings.TrimPrefix(rest, ".")
			continue
		}
		name, rest := path, ""
		if i := strings.IndexAny(path, ".["); i >= 0 {
			name, rest = path[:i], strings.TrimPrefix(path[i:], ".")
		}
		field := find(f.Fields, name)
		if field == nil {
			return len(f.Fields) == 0 && f.Kind != "struct"
		}
		f, path = field.Form, rest
	}
	return true
}

// progressText is a line about how far a rehearsal is.
func progressText(ids, of int, events uint64) string {
	return fmt.Sprintf("%d of %d ids, %d events", ids, of, events)
}
