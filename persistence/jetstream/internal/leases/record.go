package leases

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// errForeign: a key has a value that this package has not written.
var errForeign = errors.New("it was not written by a lease store, give Open another Bucket")

// A record is the state of a lease. The zero value is the record of a name that was never held, or
// whose key was deleted.
type record struct {
	revision uint64 // of the entry that it was read from or written to; 0 without an entry
	holder   string // "" when nobody holds the lease
	token    uint64 // of the last acquisition
	ttl      time.Duration
	nonce    string // unique to each write, because the revisions of a stream that was lost come again
}

func newRecord(holder string, token uint64, ttl time.Duration) record {
	return record{holder: holder, token: token, ttl: ttl, nonce: rand.Text()}
}

// layout is readable for people who look at the bucket; %q keeps any text.
const layout = "holder %q token %d ttl %d write %s"

func (r record) encode() []byte {
	return fmt.Appendf(nil, layout, r.holder, r.token, r.ttl, r.nonce)
}

// parseRecord reads an entry. An entry without a value is missing, or marks a deletion; the latter
// has a revision.
func parseRecord(e entry) (record, error) {
	r := record{revision: e.revision}
	if len(e.value) == 0 {
		return r, nil
	}
	if _, err := fmt.Sscanf(string(e.value), layout, &r.holder, &r.token, &r.ttl, &r.nonce); err != nil {
		return r, errors.Join(errForeign, err)
	}
	return r, nil
}

func (r record) version() string { return strconv.FormatUint(r.revision, 10) }

// parseVersion returns 0 for text that is not from a grant of this package, including "".
func parseVersion(text string) uint64 {
	revision, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0
	}
	return revision
}

func holderKey(name string) string { return "holder." + token(name) }

// tokenKey is the key that says up to which number the tokens of a name are used up.
func tokenKey(name string) string { return "token." + token(name) }

// token returns a name as one token of a subject: letters, digits, '-' and '_' stay, and any other
// byte becomes its value, as in "a=2Fb" for "a/b". Different names stay different. The token of an
// empty name is "=".
func token(name string) string {
	if name == "" {
		return "="
	}
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
