package nats

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// errForeign says that a key has what this package has not written.
var errForeign = errors.New("it was not written by a lease store, give Open another Bucket")

// A record says who holds a lease. The zero value is that of a name which nobody ever had,
// or whose key was deleted.
type record struct {
	revision uint64 // of the entry that it was read from, or has become; 0 when there is none
	holder   string // "" when nobody holds it
	token    uint64 // of the last acquisition
	ttl      time.Duration
	nonce    string // which no other write has: revisions of a stream that was lost come again
}

func newRecord(holder string, token uint64, ttl time.Duration) record {
	return record{holder: holder, token: token, ttl: ttl, nonce: rand.Text()}
}

// layout is made for people who look at the bucket; %q keeps any text.
const layout = "holder %q token %d ttl %d write %s"

func (r record) encode() []byte {
	return fmt.Appendf(nil, layout, r.holder, r.token, r.ttl, r.nonce)
}

// parseRecord reads an entry. One without a value is none, or the marker of a deletion: such
// a one has a revision all the same.
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

// version is what a grant remembers of its record.
func (r record) version() string { return strconv.FormatUint(r.revision, 10) }

// parseVersion reports 0 for what is not a grant of this package, such as none at all.
func parseVersion(text string) uint64 {
	revision, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0
	}
	return revision
}
