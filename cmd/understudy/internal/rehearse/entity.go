package rehearse

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// Entity returns what a program makes of what a journal has of an actor, in the JSON of the status
// page. The query is the one of that page.
func Entity(ctx context.Context, program, journal, query string) (entity json.RawMessage, err error) {
	if err := check(program); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "understudy-entity-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r := &rehearsal{Config: Config{Journal: journal}, dir: dir, key: key()}
	defer r.end()
	if r.old, _, err = r.open(ctx, program, filepath.Base(dir)); err != nil {
		return nil, err
	}
	err = r.old.ask(request{Do: "look", Query: query}, func(a *answer) error {
		entity = a.Entity
		return nil
	})
	return entity, err
}
