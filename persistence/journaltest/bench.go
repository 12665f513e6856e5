package journaltest

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var payload100 = fmt.Sprintf("%0100d", 0)

// BenchmarkAppend measures 1, 8 and 64 writers on the journals that open returns. Each writer
// appends one event of 100 bytes at a time, to its own id.
func BenchmarkAppend(b *testing.B, open func(b *testing.B) journal.Journal) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			j := open(b)
			claims := make([]journal.Claim, writers)
			for i := range claims {
				claims[i] = benchmarkClaim(b, j, fmt.Sprint(i))
			}
			errs := make([]error, writers)
			var all sync.WaitGroup
			b.ResetTimer()
			for i, claim := range claims {
				all.Go(func() {
					id := fmt.Sprint(i)
					for n := i; n < b.N && errs[i] == nil; n += writers {
						errs[i] = j.Append(b.Context(), []journal.AppendRequest{request(id, claim.Epoch, claim.LastSeq, payload100)})[0]
						claim.LastSeq++
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
			for _, err := range errs {
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkReplay measures how fast a reader gets the events of one id: 10,000 events of 100 bytes.
func BenchmarkReplay(b *testing.B, open func(b *testing.B) journal.Journal) {
	const groups, size = 20, 500
	j := open(b)
	claim := benchmarkClaim(b, j, "x")
	payloads := make([]string, size)
	for i := range payloads {
		payloads[i] = payload100
	}
	for i := range uint64(groups) {
		require.NoError(b, j.Append(b.Context(), []journal.AppendRequest{request("x", claim.Epoch, i*size, payloads...)})[0])
	}
	for b.Loop() {
		n := 0
		for _, err := range j.Read(b.Context(), "x", 1, everything) {
			require.NoError(b, err)
			n++
		}
		require.Equal(b, groups*size, n)
	}
	b.ReportMetric(float64(b.N)*groups*size/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkEvents measures how fast a reader gets events across persistence ids. The journal has
// 10,000 events of 100 bytes, from 100 ids. The reader gets all of them, the tenth that has a tag,
// or those in a quarter of the slices. The rate counts the events that the reader gets.
func BenchmarkEvents(b *testing.B, open func(b *testing.B) journal.Journal) {
	const ids, size = 100, 100
	j := open(b)
	for i := range ids {
		id := fmt.Sprint("id-", i)
		claim := benchmarkClaim(b, j, id)
		req := request(id, claim.Epoch, 0, slices.Repeat([]string{payload100}, size)...)
		for k := range req.Records {
			if req.Records[k].Tags = []string{"all"}; k%10 == 0 {
				req.Records[k].Tags = []string{"all", "tenth"}
			}
		}
		require.NoError(b, j.Append(b.Context(), []journal.AppendRequest{req})[0])
	}
	for _, c := range []struct {
		name  string
		query journal.Query
	}{
		{"all", journal.Query{}},
		{"tag=all", journal.Query{Tag: "all"}},
		{"tag=tenth", journal.Query{Tag: "tenth"}},
		{"slices=quarter", journal.Query{Slices: journal.Split(4)[0]}},
	} {
		b.Run(c.name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				for _, err := range j.(journal.EventReader).Events(b.Context(), c.query, "") {
					require.NoError(b, err)
					n++
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

func benchmarkClaim(b *testing.B, j journal.Journal, id string) journal.Claim {
	claim, err := j.Claim(b.Context(), id, journal.WriterID{}, journal.Bounds{})
	require.NoError(b, err)
	return claim
}
