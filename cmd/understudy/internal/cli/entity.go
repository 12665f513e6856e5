package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

func writeEntity(to io.Writer, e status.Entity) error {
	if e.Seq == 0 {
		_, err := fmt.Fprintf(to, "Nothing is stored for %s.\n", e.PersistenceID)
		return err
	}
	t := newTable(to)
	t.row("persistence id", e.PersistenceID)
	t.row("event", strconv.FormatUint(e.Seq, 10))
	if e.Time != nil {
		t.row("stored", e.Time.Local().Format(exact))
	}
	if e.Shredded > 0 {
		t.row("shredded", strconv.FormatUint(e.Shredded, 10)+" events, whose keys were destroyed")
	}
	if err := t.flush(); err != nil {
		return err
	}
	state, err := json.MarshalIndent(e.State, "", "  ")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(to, "\n%s\n", escaped(state)); err != nil {
		return err
	}
	if err := writeChanges(to, e); err != nil {
		return err
	}
	return writeEntityEvents(to, e.Events)
}

func writeChanges(to io.Writer, e status.Entity) error {
	if e.Since == 0 {
		return nil
	}
	if len(e.Changes) == 0 {
		_, err := fmt.Fprintf(to, "\nNothing has changed since event %d.\n", e.Since)
		return err
	}
	if _, err := fmt.Fprintln(to); err != nil {
		return err
	}
	t := newTable(to)
	t.row("FIELD", fmt.Sprint("EVENT ", e.Since), fmt.Sprint("EVENT ", e.Seq))
	for _, c := range e.Changes {
		t.row(c.Path, inLine(c.Before), inLine(c.After))
	}
	return t.flush()
}

func writeEntityEvents(to io.Writer, all []status.EntityEvent) error {
	if len(all) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(to); err != nil {
		return err
	}
	t := newTable(to)
	t.row("EVENT", "STORED", "TYPE", "CONTENT")
	for _, e := range all {
		content := inLine(e.Event)
		switch {
		case e.Shredded:
			content = "<shredded>"
		case e.Error != "":
			content = e.Error
		}
		t.row(strconv.FormatUint(e.Seq, 10), e.Time.Local().Format(time.DateTime), e.Type, content)
	}
	return t.flush()
}

func inLine(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return escaped(b)
}
