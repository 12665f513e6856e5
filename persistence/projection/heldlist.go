package projection

import (
	"encoding/json"
	"fmt"

	"github.com/understudy-go/understudy/persistence/journal"
)

// heldVersion is the version of the stored form of the ids that a worker holds back. An older
// program refuses a newer one, because it would skip or repeat events.
const heldVersion = 1

// A heldList is that form, in JSON. The key "v" stays in every version.
type heldList struct {
	Version int     `json:"v"`
	IDs     []*held `json:"ids"`
}

func encodeHeld(ids []*held) (journal.Offset, error) {
	text, err := json.Marshal(heldList{heldVersion, ids})
	return journal.Offset(text), err
}

func decodeHeld(stored journal.Offset) ([]*held, error) {
	var form struct {
		Version int `json:"v"`
	}
	if err := json.Unmarshal([]byte(stored), &form); err != nil {
		return nil, fmt.Errorf("%q is no such list: %w", stored, err)
	}
	switch {
	case form.Version > heldVersion:
		return nil, fmt.Errorf("the list has version %d, this program knows %d; use a newer build of the program", form.Version, heldVersion)
	case form.Version < 1:
		return nil, fmt.Errorf("%q is no such list: it has no version", stored)
	}
	var list heldList
	if err := json.Unmarshal([]byte(stored), &list); err != nil {
		return nil, fmt.Errorf("%q is no such list: %w", stored, err)
	}
	return list.IDs, nil
}
