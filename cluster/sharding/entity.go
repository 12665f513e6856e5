package sharding

import (
	"fmt"
	"strings"

	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/singleton"
)

// An Entity says which entity a factory makes.
type Entity struct {
	// Type is the name of its type, as given to [Start].
	Type string
	// ID is the id within the type, as given to [Region.Ref].
	ID string
	// Shard is the number of its shard.
	Shard int
	// Generation is the generation of the shard. It rises each time that the shard starts on a
	// node, and is the fencing token for what the entity writes to the outside.
	Generation singleton.Generation

	at *residents // nil for an Entity that was not given to a factory
}

// PersistenceID returns the id under which an event-sourced entity keeps its events: the type and
// the id, with a bar between them. It never changes.
func (e Entity) PersistenceID() string { return persistenceID(e.Type, e.ID) }

func persistenceID(typ, id string) string { return typ + idSeparator + id }

// idSeparator is not in the name of a type.
const idSeparator = "|"

// ParsePersistenceID returns the type and the id of the entity that has a persistence id, as
// [Entity.PersistenceID] returns it. ok is false if no entity has it.
func ParsePersistenceID(persistenceID string) (typ, id string, ok bool) {
	typ, id, ok = strings.Cut(persistenceID, idSeparator)
	return typ, id, ok && typ != "" && ValidateID(id) == nil
}

// OfType returns a function that reports whether a persistence id belongs to an entity of a type,
// for projection.OfIDs.
func OfType(name string) func(persistenceID string) bool {
	return func(persistenceID string) bool {
		typ, _, ok := ParsePersistenceID(persistenceID)
		return ok && typ == name
	}
}

// maxID is how many bytes an id may have.
const maxID = 255

// ValidateID returns why no entity can have that id, or nil. An id has 1 to 255 bytes of UTF-8
// without control characters.
func ValidateID(id string) error {
	if err := naming.CheckLength(id, maxID); err != nil {
		return fmt.Errorf("sharding: the id %q %w", id, err)
	}
	return nil
}

// escape returns the element of a path that stands for an id. Different ids have different ones.
func escape(id string) string {
	if isPlain(id) {
		return id
	}
	var b strings.Builder
	for i := range len(id) {
		if c := id[i]; plain[c] {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "~%02X", c)
		}
	}
	return b.String()
}

// isPlain reports whether an id stands for itself. If it has a valid length, it is valid.
func isPlain(id string) bool {
	for i := range len(id) {
		if !plain[id[i]] {
			return false
		}
	}
	return true
}

// plain are the bytes that are not escaped.
var plain = func() (all [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" + "0123456789" + "-_.:+@") {
		all[c] = true
	}
	return all
}()

// unescape returns the id for which an element of a path stands. It returns false if it stands for
// none.
func unescape(name string) (id string, ok bool) {
	if strings.IndexByte(name, '~') < 0 {
		return name, ValidateID(name) == nil
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '~' {
			b.WriteByte(name[i])
			continue
		}
		if i+2 >= len(name) {
			return "", false
		}
		high, low := strings.IndexByte(digits, name[i+1]), strings.IndexByte(digits, name[i+2])
		if high < 0 || low < 0 {
			return "", false
		}
		b.WriteByte(byte(high<<4 | low))
		i += 2
	}
	return b.String(), ValidateID(b.String()) == nil && escape(b.String()) == name
}

// idOf is unescape for an element that has been checked.
func idOf(name string) string {
	if strings.IndexByte(name, '~') < 0 {
		return name
	}
	id, _ := unescape(name)
	return id
}

const digits = "0123456789ABCDEF"
