package journaltest

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var idLaws = []law{
	{"AwkwardIDsAreKeptApart", func(e *env) {
		j := e.journal()
		ids := awkwardIDs()
		for _, id := range ids {
			w := e.writer(j, id)
			require.Zero(e, w.last, "%q is another id already", id)
			w.append("first of " + id)
		}
		for _, id := range ids {
			require.Equal(e, []string{"first of " + id}, e.payloads(j, id), "%q", id)
		}
	}},
	{"ImpossibleIDsAreInvalid", func(e *env) {
		j := e.journal()
		for _, id := range []string{"", "a\x00b", "\xff\xfe", strings.Repeat("x", journal.MaxIDLength+1)} {
			_, err := j.Claim(e.Context(), id, journal.WriterID{}, journal.Bounds{})
			require.ErrorIs(e, err, journal.ErrInvalid, "%q", id)
			require.ErrorIs(e, appendOne(e, j, request(id, 1, 0, "a")), journal.ErrInvalid, "%q", id)
			require.ErrorIs(e, j.DeleteTo(e.Context(), id, 1, 1), journal.ErrInvalid, "%q", id)
			for _, err := range j.Read(e.Context(), id, 1, 1) {
				require.ErrorIs(e, err, journal.ErrInvalid, "%q", id)
			}
		}
	}},
	{"ManyIDsAreKeptApart", func(e *env) {
		j := e.journal()
		writers := make([]*writer, 100)
		for i := range writers {
			writers[i] = e.writer(j, fmt.Sprintf("id-%d", i))
		}
		for round := range 20 {
			var reqs []journal.AppendRequest
			for _, w := range writers {
				reqs = append(reqs, w.next(fmt.Sprintf("%s round %d", w.id, round)))
				w.last++
			}
			for _, err := range j.Append(e.Context(), reqs) {
				require.NoError(e, err)
			}
		}
		for _, w := range writers {
			payloads := e.payloads(j, w.id)
			require.Len(e, payloads, 20)
			for round, p := range payloads {
				require.Equal(e, fmt.Sprintf("%s round %d", w.id, round), p)
			}
		}
	}},
	{"AThousandIDsMayBeClaimedAtOnce", func(e *env) {
		j := e.journal()
		errs := make([]error, 1000)
		var claims sync.WaitGroup
		for i := range errs {
			claims.Go(func() {
				// A busy server may answer too late. The contract says to claim again then.
				for try := 0; try == 0 || try < 3 && errors.Is(errs[i], journal.ErrUnknown); try++ {
					_, errs[i] = j.Claim(e.Context(), fmt.Sprint(i), journal.WriterID{}, journal.Bounds{})
				}
			})
		}
		claims.Wait()
		for _, err := range errs {
			require.NoError(e, err)
		}
	}},
}

// awkwardIDs are hard on patterns, paths, quotes, prefixes and collations.
func awkwardIDs() []string {
	return []string{
		"a", "A", "ab", "abc", "a ", " a", "a/b", "a//b", "a/", "/", `\`, ".", "..", "*", ">", "a.*", "a.>", "%", "_", "a_c", "a%",
		"'", `"`, "';--", "|", "a|b", "?", "#", "\n", "\t", "\x01", "\x7f", "a\u0301", "á", "ß", "ss", "İ", "i",
		"counter-1", "counter-10", "null", "0", "00", "0.0", "1", "01", "1e0", "-1", strings.Repeat("ü", 255), strings.Repeat("ü", 255) + "xy",
	}
}
