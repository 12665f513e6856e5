package jetstreamtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/jetstream"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/journaltest"
)

func TestJournalObeysTheLawsOnOneServer(t *testing.T) { obeysTheLaws(t, 1) }

func TestJournalObeysTheLawsOnThreeServers(t *testing.T) { obeysTheLaws(t, 3) }

func obeysTheLaws(t *testing.T, n int) {
	t.Parallel() // they mostly wait
	r := &rig{cluster: start(t, n)}
	journaltest.Run(t, func(t *testing.T) journal.Journal { return r.open(t, r.name()) }, r.features())
}

// A rig opens journals on a cluster.
type rig struct {
	cluster *cluster
	names   atomic.Int64
}

// A located journal knows its stream.
type located struct {
	*jetstream.Journal
	stream string
	nc     *nats.Conn
	held   *sync.RWMutex // locked: no answer gets through
}

func (r *rig) name() string { return fmt.Sprint("journal-", r.names.Add(1)) }

func (r *rig) open(t testing.TB, stream string) *located {
	t.Helper()
	held := new(sync.RWMutex)
	nc := r.cluster.connect(t, nats.SetCustomDialer(holdable{held: held}))
	j, err := jetstream.Open(t.Context(), nc, jetstream.Config{
		Stream: stream, Durability: jetstream.SyncAlways, Replicas: len(r.cluster.servers),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	return &located{j, stream, nc, held}
}

// features omit two hooks. DropRecord: if JetStream loses a message, all its records are lost, and
// if it was the last of its id, the loss cannot be detected. DamageRecord: JetStream detects a
// changed byte itself, and drops the message. TestAMissingMessageIsAnError tests what can be
// detected.
func (r *rig) features() journaltest.Features {
	return journaltest.Features{
		MaxPayload: jetstream.MaxPayload,
		ReplayHeap: 384 << 20, // the servers of both tests run in this process, and keep for seconds what they have read
		Skipped: `
			ADamagedRecordIsAnError: Features.DamageRecord is not set
			AMissingRecordIsAnError: Features.DropRecord is not set
			ALostRecordIsNotWrittenAgain: Features.DropRecord is not set
			ADamagedEventIsNamedAndTheNextFollow: Features.DamageRecord is not set
			NoFileHasWhatIsForgotten: Features.Files is not set
			ADamagedReaderKeepsAll: Features.DamageReader is not set
			TimersAreSetAndRemovedWithRecords: *jetstreamtest.located keeps no timers
			ATimerIsReadAsItWasSet: *jetstreamtest.located keeps no timers
			OnlyTheNewestClaimChangesTimers: *jetstreamtest.located keeps no timers
			AClaimHasTheTimers: *jetstreamtest.located keeps no timers
			AClaimKnowsTheTimersOfAppendsBeforeIt: *jetstreamtest.located keeps no timers
			ARepeatedAppendDoesNotChangeTimersAgain: *jetstreamtest.located keeps no timers
			MalformedTimersAreInvalid: *jetstreamtest.located keeps no timers
			DeletedRecordsLeaveTheirTimers: *jetstreamtest.located keeps no timers
			WakesComeInPagesInTheirOrder: *jetstreamtest.located keeps no timers
			TheClockGoesOn: *jetstreamtest.located keeps no timers
			TimersAreThereAfterReopening: *jetstreamtest.located keeps no timers
			AClosedStoreTellsNoTimers: *jetstreamtest.located keeps no timers`,
		Reopen: func(t *testing.T, j journal.Journal) journal.Journal {
			require.NoError(t, j.Close())
			return r.open(t, j.(*located).stream)
		},
		SecondHandle: func(t *testing.T, j journal.Journal) journal.Journal {
			return r.open(t, j.(*located).stream)
		},
		DamageSnapshot: func(t *testing.T, j journal.Journal, _ string, seq uint64) {
			j.(*located).dropLarge(t, fmt.Appendf(nil, "state %d", seq))
		},
		Stall: func(t *testing.T, j journal.Journal) func() {
			held := j.(*located).held
			held.Lock()
			release := sync.OnceFunc(held.Unlock)
			t.Cleanup(release)
			return release
		},
		Fill: func(t *testing.T, j journal.Journal) func() {
			j.(*located).limit(t, 1)
			return func() { j.(*located).limit(t, -1) }
		},
	}
}

// dropLarge deletes the message of the large stream that contains data.
func (j *located) dropLarge(t *testing.T, data []byte) {
	t.Helper()
	stream := j.at(t, j.stream+"_LARGE")
	last := stream.CachedInfo().State.LastSeq
	for seq := uint64(1); seq <= last; seq++ {
		m, err := stream.GetMsg(t.Context(), seq)
		if err == nil && bytes.Contains(m.Data, data) {
			require.NoError(t, stream.DeleteMsg(t.Context(), seq))
			return
		}
	}
	require.Fail(t, "there is no such message")
}

// limit limits the bytes of both streams.
func (j *located) limit(t *testing.T, bytes int64) {
	t.Helper()
	client, err := js.New(j.nc)
	require.NoError(t, err)
	for _, name := range []string{j.stream, j.stream + "_LARGE"} {
		config := j.at(t, name).CachedInfo().Config
		config.MaxBytes = bytes
		_, err := client.UpdateStream(t.Context(), config)
		require.NoError(t, err)
	}
}

// await waits until both streams have a leader.
func (j *located) await(t *testing.T) {
	t.Helper()
	for _, name := range []string{j.stream, j.stream + "_LARGE"} {
		require.Eventually(t, func() bool { //nolint:forbidigo // real servers
			answer, err := j.nc.Request("$JS.API.STREAM.INFO."+name, nil, time.Second)
			return err == nil && !isError(answer.Data)
		}, 30*time.Second, 20*time.Millisecond)
	}
}

func (j *located) at(t testing.TB, name string) js.Stream {
	t.Helper()
	client, err := js.New(j.nc)
	require.NoError(t, err)
	stream, err := client.Stream(t.Context(), name)
	require.NoError(t, err)
	return stream
}

func isError(answer []byte) bool {
	var a struct {
		Error *js.APIError `json:"error"`
	}
	return json.Unmarshal(answer, &a) != nil || a.Error != nil
}
