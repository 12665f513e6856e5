package postgres_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journaltest"
	"github.com/understudy-go/understudy/persistence/postgres"
)

func BenchmarkAppend(b *testing.B) {
	journaltest.BenchmarkAppend(b, func(b *testing.B) persistence.Journal { return shared(b).open(b) })
}

func BenchmarkAppendProcessSafe(b *testing.B) {
	journaltest.BenchmarkAppend(b, func(b *testing.B) persistence.Journal { return shared(b).open(b, postgres.ProcessSafe()) })
}

func BenchmarkReplay(b *testing.B) {
	journaltest.BenchmarkReplay(b, func(b *testing.B) persistence.Journal { return shared(b).open(b) })
}

func BenchmarkClaim(b *testing.B) {
	j := shared(b).open(b)
	for b.Loop() {
		_, err := j.Claim(b.Context(), "x", persistence.WriterID{})
		require.NoError(b, err)
	}
}

// BenchmarkEvents is what a projection gets of all events.
func BenchmarkEvents(b *testing.B) {
	const ids, events = 20, 500
	j := shared(b).open(b)
	for i := range ids {
		appendSome(b, j, fmt.Sprint(i), events)
	}
	for b.Loop() {
		require.Len(b, collect(b, j, persistence.Query{}, ""), ids*events)
	}
	b.ReportMetric(float64(b.N)*ids*events/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkAppendBesideRaw compares, in turns, what a journal appends with what the driver
// alone does that sends the same statement for as many requests as have queued up, and with
// one that has no heads: nothing fences, nothing is checked.
func BenchmarkAppendBesideRaw(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			s := shared(b)
			contenders := []contender{
				journalContender(b, s, writers),
				rawContender(b, s, writers, (*postgres.Journal).AppendStatement),
				rawContender(b, s, writers, func(*postgres.Journal) string { return insertOnly }),
			}
			const events = 20 // of each writer in a turn
			times := make([]time.Duration, len(contenders))
			for b.Loop() {
				for i, c := range contenders {
					begin := time.Now()
					c.run(b, writers, events)
					times[i] += time.Since(begin)
				}
			}
			total := float64(b.N * writers * events)
			for i, unit := range []string{"events/s", "raw/s", "unfenced/s"} {
				b.ReportMetric(total/times[i].Seconds(), unit)
			}
			b.ReportMetric(100*times[1].Seconds()/times[0].Seconds(), "%raw")
		})
	}
}

// A contender appends the next event of a writer.
type contender []func() error

func (c contender) run(b *testing.B, writers, events int) {
	errs := make([]error, writers)
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for n := 0; n < events && errs[i] == nil; n++ {
				errs[i] = c[i]()
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(b, err)
	}
}

func journalContender(b *testing.B, s *server, writers int) contender {
	j := s.open(b)
	c := make(contender, writers)
	for i := range c {
		o, err := own(j, fmt.Sprint(i))
		require.NoError(b, err)
		c[i] = func() error {
			req := persistence.AppendRequest{ID: o.id, Epoch: o.claim.Epoch, Prev: o.claim.LastSeq, Records: []persistence.Record{{
				Seq: o.claim.LastSeq + 1, Epoch: o.claim.Epoch, Time: time.Unix(1_800_000_000, 0), Type: "event", Payload: rawPayload,
			}}}
			o.claim.LastSeq++
			return j.Append(b.Context(), []persistence.AppendRequest{req})[0]
		}
	}
	return c
}

func rawContender(b *testing.B, s *server, writers int, statement func(*postgres.Journal) string) contender {
	j := s.open(b)
	conn, err := pgx.Connect(b.Context(), s.url())
	require.NoError(b, err)
	_, err = conn.Exec(b.Context(), "SET search_path = "+pgx.Identifier{j.schema}.Sanitize())
	require.NoError(b, err)
	queue := make(chan rawRequest, writers)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		rawCommitter(b, conn, statement(j.Journal), queue)
	}()
	b.Cleanup(func() {
		close(queue)
		<-ended
		_ = conn.Close(b.Context())
	})
	c := make(contender, writers)
	for i := range c {
		_, err := own(j, fmt.Sprint(i))
		require.NoError(b, err)
		seq, done := uint64(0), make(chan error, 1)
		c[i] = func() error {
			seq++
			queue <- rawRequest{i, seq, done}
			return <-done
		}
	}
	return c
}

const insertOnly = `INSERT INTO understudy_event (pid, seq, epoch, writer, sec, nsec, type, tags, meta, payload, crc, slice, xid, ord)
SELECT r.pid, e.seq, r.epoch, e.writer, e.sec, e.nsec, e.type, e.tags::text[], nullif(e.meta, '')::jsonb, e.payload, e.crc, r.slice, pg_current_xact_id(), e.ord
FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::int[], $6::smallint[]) WITH ORDINALITY AS r(pid, epoch, prev, last, flip, slice, n)
JOIN unnest($7::bigint[], $8::bigint[], $9::bytea[], $10::bigint[], $11::int[], $12::text[], $13::text[], $14::text[], $15::bytea[], $16::int[])
	WITH ORDINALITY AS e(n, seq, writer, sec, nsec, type, tags, meta, payload, crc, ord) ON e.n = r.n
RETURNING ord`

// A rawRequest is one event of a writer.
type rawRequest struct {
	writer int
	seq    uint64
	done   chan error
}

func rawCommitter(b *testing.B, conn *pgx.Conn, statement string, queue chan rawRequest) {
	for first := range queue {
		group := []rawRequest{first}
		for len(queue) > 0 {
			group = append(group, <-queue)
		}
		rows, err := conn.Query(b.Context(), statement, rawArguments(group)...)
		var numbers []int64
		if err == nil {
			numbers, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		}
		if err == nil && len(numbers) != len(group) {
			err = fmt.Errorf("%d of %d were stored", len(numbers), len(group))
		}
		for _, r := range group {
			r.done <- err
		}
	}
}

var (
	rawPayload = fmt.Appendf(nil, "%0100d", 0)
	rawWriter  = make([]byte, 16)
)

func rawArguments(group []rawRequest) []any {
	var (
		ids, types, tags, metas   []string
		epochs, prevs, last, secs []int64
		requests                  []int64
		flips, nsecs, crcs        []int32
		slots                     []int16
		writers, payloads         [][]byte
	)
	for i, r := range group {
		ids, types, tags, metas = append(ids, fmt.Sprint(r.writer)), append(types, "event"), append(tags, "{}"), append(metas, "")
		epochs, prevs, last, secs = append(epochs, 1), append(prevs, int64(r.seq)-1), append(last, int64(r.seq)), append(secs, 1_800_000_000)
		requests = append(requests, int64(i)+1)
		flips, nsecs, crcs = append(flips, postgres.Advance(r.seq-1, r.seq)), append(nsecs, 0), append(crcs, 0)
		slots, writers, payloads = append(slots, 1), append(writers, rawWriter), append(payloads, rawPayload)
	}
	return []any{ids, epochs, prevs, last, flips, slots, requests, last, writers, secs, nsecs, types, tags, metas, payloads, crcs}
}

// BenchmarkReplayBesideRaw compares, in turns, a replay of one id with one query whose columns
// are scanned and not looked at.
func BenchmarkReplayBesideRaw(b *testing.B) {
	const groups, size = 100, 1000
	s := shared(b)
	j := s.open(b)
	o, err := own(j, "x")
	require.NoError(b, err)
	for range groups {
		req := some("x", 1, o.claim.LastSeq, size)
		for i := range req.Records {
			req.Records[i].Payload, req.Records[i].Tags, req.Records[i].Meta = rawPayload, nil, nil
		}
		require.NoError(b, appendOne(b, j, req))
		o.claim.LastSeq += size
	}
	tx := s.begin(b, j.schema)
	var replaying, scanning time.Duration
	for b.Loop() {
		begin := time.Now()
		require.Equal(b, groups*size, replay(b, j))
		replaying += time.Since(begin)
		begin = time.Now()
		require.Equal(b, groups*size, scan(b, tx))
		scanning += time.Since(begin)
	}
	total := float64(b.N * groups * size)
	b.ReportMetric(total/replaying.Seconds(), "events/s")
	b.ReportMetric(total/scanning.Seconds(), "raw/s")
	b.ReportMetric(100*scanning.Seconds()/replaying.Seconds(), "%raw")
}

func replay(b *testing.B, j persistence.Journal) (n int) {
	for _, err := range j.Read(b.Context(), "x", 1, 1<<63) {
		require.NoError(b, err)
		n++
	}
	return n
}

func scan(b *testing.B, tx pgx.Tx) (n int) {
	rows, err := tx.Query(b.Context(), "SELECT seq, epoch, writer, sec, nsec, type, tags, meta::text, payload, crc FROM understudy_event WHERE pid = 'x' ORDER BY seq")
	require.NoError(b, err)
	var r persistence.Record
	var writer []byte
	var sec, nsec, crc int64
	var meta *string
	for rows.Next() {
		require.NoError(b, rows.Scan(&r.Seq, &r.Epoch, &writer, &sec, &nsec, &r.Type, &r.Tags, &meta, &r.Payload, &crc))
		n++
	}
	require.NoError(b, rows.Err())
	return n
}
