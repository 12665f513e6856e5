package rehearsal

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/inspect"
	"github.com/understudy-go/understudy/internal/payload"
	"github.com/understudy-go/understudy/internal/statuspage"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A server answers one request after the other.
type server struct {
	system  *actor.System
	parts   []Part
	open    func(context.Context, string) (persistence.Journal, error)
	journal persistence.Journal // nil before the first request
	painter inspect.Painter
	out     *bufio.Writer
}

// hello says what a build has.
type hello struct {
	Go    string   `json:"go"`
	Parts []string `json:"parts"`
	// The settings that members of a cluster compare, by part.
	Settings map[string]map[string]string `json:"settings"`
	Codecs   []string                     `json:"codecs"`
	Errors   []string                     `json:"errors"` // the names of RegisterError
	Forms    map[string]*codec.Form       `json:"forms"`
}

// stored is an id of the journal.
type stored struct {
	ID     string `json:"id"`
	Events uint64 `json:"events"`
}

// A report is what a build makes of what is stored under an id.
type report struct {
	ID        string           `json:"id"`
	Part      string           `json:"part"` // "" for none
	Uses      string           `json:"uses"` // the persistence id that the actor has
	Error     string           `json:"error"`
	Seq       uint64           `json:"seq"`
	Events    uint64           `json:"events"`
	Snapshots uint64           `json:"snapshots"`
	Faults    []inspect.Fault  `json:"faults"`
	Tagged    []inspect.Tagged `json:"tagged"`
	State     json.RawMessage  `json:"state"` // after a recovery; null without one
	Alone     json.RawMessage  `json:"alone"` // by the events alone
	Recovers  bool             `json:"recovers"`
	Replays   bool             `json:"replays"`
	Wrote     uint64           `json:"wrote"` // events that it would store differently
	Saved     string           `json:"saved"` // hash of the snapshot that it would save; "" without one
	Changes   []change         `json:"changes"`
}

// A change is an event that a build reads as another one, once the other build has written it.
type change struct {
	Seq    uint64          `json:"seq"`
	Type   string          `json:"type"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// maxChanges bounds the changes of one id.
const maxChanges = 20

func (s *server) close() {
	if s.journal != nil {
		_ = s.journal.Close() // nothing was written
	}
}

func (s *server) answer(ctx context.Context, r *request) error {
	if r.Do == "hello" {
		return s.hello(ctx, r.Journal)
	}
	if s.journal == nil {
		return errors.New("no journal is open")
	}
	switch r.Do {
	case "ids":
		return s.ids(ctx)
	case "read":
		return s.read(ctx, r)
	case "reread":
		return s.reread(ctx, r)
	case "look":
		return s.look(ctx, r.Query)
	}
	return fmt.Errorf("this build does not know the request %q; build it with the release of the command understudy", r.Do)
}

func (s *server) hello(ctx context.Context, location string) (err error) {
	if s.journal, err = s.open(ctx, location); err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	h := &hello{Settings: map[string]map[string]string{}, Codecs: codec.FormatNames(), Errors: payload.ErrorNames(), Forms: codec.Forms()}
	for i := range s.parts {
		h.Parts = append(h.Parts, s.parts[i].name)
		if all := s.settings(ctx, &s.parts[i]); len(all) > 0 {
			h.Settings[s.parts[i].name] = all
		}
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		h.Go = info.GoVersion
	}
	return s.send(answer{Hello: h})
}

// settings returns those that members compare. A singleton shows its own to somebody who looks.
func (s *server) settings(ctx context.Context, p *Part) map[string]string {
	switch {
	case p.run == nil:
		return p.same
	case len(p.same) > 0:
		return p.With(map[string]string{"message": p.message}).same
	}
	found, _ := p.run(ctx, s.system, inspect.Query{}, strings.TrimSuffix(p.name, "*"), &copied{Journal: s.journal}) // what it has stored is tried later
	return found.Compared
}

func (s *server) ids(ctx context.Context) error {
	reader, ok := journal.As[journal.EventReader](s.journal)
	if !ok {
		return fmt.Errorf("a %T does not read events across persistence ids; copy them into a journal that does, such as persistence/sqlite", s.journal)
	}
	count := map[string]uint64{}
	for e, err := range reader.Events(ctx, journal.Query{}, "") {
		switch {
		case err != nil && e.ID == "" && e.Offset == "":
			return err
		case e.ID != "" && !e.Forgotten():
			count[e.ID]++
		}
	}
	for id, n := range count {
		if err := s.send(answer{ID: &stored{id, n}}); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) read(ctx context.Context, r *request) error {
	to, err := newSpool(r.Spool)
	if err != nil {
		return err
	}
	defer to.close() //nolint:errcheck // it is closed before, unless the command is gone
	for _, id := range r.IDs {
		if err := s.send(answer{Report: s.try(ctx, id, to)}); err != nil {
			return err
		}
	}
	return to.close()
}

// try reports on what is stored under an id, and spools what this build would store for it.
func (s *server) try(ctx context.Context, id string, to *spool) *report {
	trial := &inspect.Trial{}
	rep := &report{ID: id}
	trial.Wrote = func(seq uint64, now []inspect.Stored) error {
		rep.Wrote++
		return to.add(spooled{ID: id, Seq: seq, Now: now})
	}
	s.fill(ctx, rep, trial, &copied{Journal: s.journal})
	if rep.Wrote > 0 || trial.Saved != nil {
		if err := to.add(spooled{ID: id, Seq: rep.Seq, Ends: true, Saved: trial.Saved}); err != nil && rep.Error == "" {
			rep.Error = guard.Text(err)
		}
	}
	return rep
}

func (s *server) fill(ctx context.Context, rep *report, trial *inspect.Trial, from *copied) {
	part := find(s.parts, rep.ID)
	if part == nil {
		s.decodeAll(ctx, rep, trial, from)
		rep.Faults = trial.Faults
		return
	}
	rep.Part = part.name
	found, err := part.run(ctx, s.system, inspect.Query{Trial: trial}, rep.ID, from)
	if err != nil {
		rep.Error = guard.Text(err)
		return
	}
	rep.Uses, rep.Seq, rep.Events, rep.Snapshots, rep.Faults = found.ID, found.Seq, trial.Events, trial.Snapshots, trial.Faults
	rep.Tagged = trial.Tagged
	if rep.Recovers = trial.Recovers; rep.Recovers {
		rep.State = s.painter.Paint(found.State)
	}
	if rep.Replays = trial.Replays; rep.Replays {
		rep.Alone = rep.State
		if trial.Snapshots > 0 || !rep.Recovers {
			rep.Alone = s.painter.Paint(trial.Alone)
		}
	}
	if trial.Saved != nil {
		sum := sha256.Sum256(append([]byte(trial.Saved.Type+"\x00"), trial.Saved.Payload...))
		rep.Saved = hex.EncodeToString(sum[:])
	}
}

// decodeAll is all that can be tried of an id without a part.
func (s *server) decodeAll(ctx context.Context, rep *report, trial *inspect.Trial, from *copied) {
	for r, err := range from.Read(ctx, rep.ID, 1, 1<<62) {
		if err != nil {
			trial.Fault(inspect.Fault{Kind: inspect.FaultRead, Seq: rep.Seq + 1, Text: guard.Text(err)})
			return
		}
		rep.Seq = r.Seq
		rep.Events++
		if r.Shredded {
			continue
		}
		if _, err := s.value(&r); err != nil {
			trial.Fault(inspect.Fault{Kind: inspect.FaultEvent, Seq: r.Seq, Type: r.Type, Text: guard.Text(err)})
		}
	}
}

func (s *server) value(r *journal.Record) (v any, err error) {
	of, err := persistence.Stored(s.system, r)
	if err == nil {
		err = guard.Run(func() error { v, err = of.Value(); return err })
	}
	return v, err
}

// reread reports on ids as they would be after the other build has written their events.
func (s *server) reread(ctx context.Context, r *request) error {
	return readSpool(r.Spool, func(id string, w *rewritten) error {
		if !slices.Contains(r.IDs, id) {
			return nil
		}
		rep := &report{ID: id}
		s.fill(ctx, rep, &inspect.Trial{}, &copied{s.journal, w})
		if err := s.compare(ctx, rep, w); err != nil {
			return err
		}
		return s.send(answer{Report: rep})
	})
}

// compare finds the events that this build reads as others, once they have been written anew.
func (s *server) compare(ctx context.Context, rep *report, w *rewritten) error {
	for r, err := range s.journal.Read(ctx, rep.ID, 1, 1<<62) {
		if err != nil {
			return nil // it has been reported
		}
		now := w.of(r)
		if w.events[r.Seq] == nil || len(now) != 1 {
			continue
		}
		before, err := s.value(&r)
		if err != nil {
			continue // an adapter knows the type, or it has been reported
		}
		after, err := s.value(&now[0])
		if err != nil {
			continue // likewise
		}
		a, b := s.painter.Paint(before), s.painter.Paint(after)
		if bytes.Equal(a, b) {
			continue
		}
		if rep.Changes = append(rep.Changes, change{r.Seq, r.Type, a, b}); len(rep.Changes) == maxChanges {
			return nil
		}
	}
	return nil
}

// look answers a query of the status page.
func (s *server) look(ctx context.Context, query string) error {
	form, err := url.ParseQuery(query)
	if err != nil {
		return err
	}
	states := &statuspage.States{
		Shower: func() *inspect.Shower { return new(inspect.Shower) },
		Look: func(ctx context.Context, typ, id string, q inspect.Query) (inspect.Found, error) {
			if typ != inspect.SingletonType { // whose ids are their own
				id = typ + "|" + id
			}
			part := find(s.parts, id)
			if part == nil {
				return inspect.Found{}, fmt.Errorf("no part of rehearsal.Serve has the persistence id %q", id)
			}
			return part.run(ctx, s.system, q, id, &copied{Journal: s.journal})
		},
	}
	e, err := states.Entity(ctx, form)
	if err != nil {
		return err
	}
	return s.send(answer{Entity: e})
}
