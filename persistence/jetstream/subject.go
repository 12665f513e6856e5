package jetstream

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/understudy-go/understudy/persistence/journal"
)

// sliceTokens is the number of values of each of the two tokens that encode a slice in a subject.
// Two tokens let a few patterns match any range of slices.
const sliceTokens = 32

type subjects struct{ root string }

func (s subjects) entity(id string) string {
	slice := journal.SliceOf(id)
	return s.root + ".e." + strconv.Itoa(slice/sliceTokens) + "." + strconv.Itoa(slice%sliceTokens) + "." + token(id)
}

func (s subjects) entities() string { return s.root + ".e.*.*.*" }

// cut is the subject of the note that a deletion ended inside a message.
func (s subjects) cut() string { return s.root + ".cut" }

// wake is the subject at which journals notify each other of appends. No stream stores it.
func (s subjects) wake() string { return s.root + ".wake" }

// pause is the subject at which journals ask each other to pause for a claim. No stream stores it.
func (s subjects) pause() string { return s.root + ".pause" }

func (s subjects) records(id string) string   { return s.root + ".r." + token(id) }
func (s subjects) snapshots(id string) string { return s.root + ".s." + token(id) }

// readers is the subject of the registered readers, in the stream of what is large. No token of an
// id has a small letter after "=".
func (s subjects) readers() string { return s.root + ".s.=readers" }

func (s subjects) id(subject string) (string, error) {
	tokens := strings.Split(strings.TrimPrefix(subject, s.root+".e."), ".")
	if len(tokens) == 3 {
		if id, ok := untoken(tokens[2]); ok && s.entity(id) == subject {
			return id, nil
		}
	}
	return "", fmt.Errorf("%w: %q is not the subject of a persistence id", journal.ErrCorrupt, subject)
}

// token returns a name as one token of a subject: letters, digits, '-' and '_' stay, and any other
// byte becomes its value, as in "a=2Fb" for "a/b". Different names stay different. The token of an
// empty name is empty.
func token(name string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			b.Write([]byte{'=', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}

// untoken is the inverse of token; ok is false if t is not a token.
func untoken(t string) (id string, ok bool) {
	id, err := url.PathUnescape(strings.ReplaceAll(t, "=", "%"))
	return id, err == nil && token(id) == t
}
