package jetstreamtest

import (
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

// answerPatience is how long the journal waits for one answer.
const answerPatience = 5 * time.Second

// withElections is how long a read may be held up beside other tests, which make elections take
// seconds. It took ten without the mends.
const withElections = 9 * time.Second

// A server that restarts has forgotten the requests that it had not answered. A reader has sent
// many of them ahead; it notices at once, and continues when the server does.
func TestAReaderContinuesWhenTheServerIsBack(t *testing.T) {
	readersContinue(t, 1, answerPatience, func(r *rig, _ *located) {
		r.cluster.stop(0)
		r.cluster.run(t, 0)
	})
}

// The former leader answers no request that it has not answered yet.
func TestAReaderContinuesWhenTheLeaderMoves(t *testing.T) {
	readersContinue(t, 3, withElections, func(_ *rig, j *located) {
		for _, name := range []string{j.stream, j.stream + "_LARGE"} {
			answer, err := j.nc.Request("$JS.API.STREAM.LEADER.STEPDOWN."+name, nil, answerPatience)
			require.NoError(t, err)
			require.False(t, isError(answer.Data), string(answer.Data))
		}
	})
}

func TestAReaderContinuesWhenTheServerOfTheLeaderRestarts(t *testing.T) {
	readersContinue(t, 3, withElections, func(r *rig, j *located) {
		leader := j.at(t, j.stream).CachedInfo().Cluster.Leader
		for i, o := range r.cluster.options {
			if o.ServerName == leader {
				r.cluster.stop(i)
				r.cluster.run(t, i)
			}
		}
	})
}

func readersContinue(t *testing.T, servers int, within time.Duration, disturb func(*rig, *located)) {
	t.Helper()
	const rounds, ids = 150, 21 // so many ids that each is read by its pointers
	r := &rig{cluster: start(t, servers, func(o *server.Options) { o.SyncAlways = false })}
	stored := r.open(t, r.name())
	writers := make([]*writer, ids)
	for i := range writers {
		writers[i] = claim(t, stored, fmt.Sprint("id-", i))
	}
	for range rounds {
		reqs := make([]journal.AppendRequest, ids)
		for i, w := range writers {
			reqs[i] = w.request("event")
			w.last++
		}
		require.NoError(t, errors.Join(stored.Append(t.Context(), reqs)...))
	}
	for _, c := range []struct {
		name  string
		total int
		read  func(t *testing.T, j *located) iter.Seq[error]
	}{
		{"of one id", rounds, recoveryOf("id-7")},
		{"of all events", rounds * ids, everyEvent},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := r.open(t, stored.stream)
			n, longest, last := 0, time.Duration(0), time.Now()
			for err := range c.read(t, j) {
				require.NoError(t, err)
				longest = max(longest, time.Since(last))
				if n++; n == 10 {
					disturb(r, stored)
				}
				last = time.Now()
			}
			require.Equal(t, c.total, n)
			require.Less(t, longest, within)
		})
	}
}

func recoveryOf(id string) func(*testing.T, *located) iter.Seq[error] {
	return func(t *testing.T, j *located) iter.Seq[error] {
		return func(yield func(error) bool) {
			for _, err := range j.Read(t.Context(), id, 1, everything) {
				if !yield(err) {
					return
				}
			}
		}
	}
}

// everyEvent reads like a projection, which starts again where it has come to.
func everyEvent(t *testing.T, j *located) iter.Seq[error] {
	return func(yield func(error) bool) {
		for offset, done := journal.Offset(""), false; !done; {
			done = true
			for e, err := range j.Events(t.Context(), journal.Query{}, offset) {
				if errors.Is(err, journal.ErrUnavailable) {
					j.await(t)
					done = false
					break
				}
				if !yield(err) {
					return
				}
				offset = e.Offset
			}
		}
	}
}
