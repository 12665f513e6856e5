package jetstream

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

func TestAnAcknowledgementIsReadWhateverItLooksLike(t *testing.T) {
	for answer, want := range map[string]uint64{
		`{"stream":"bank","seq":42}`:                                          42,
		`{"stream":"bank","seq":18446744073709551615}`:                        1<<64 - 1,
		`{"stream":"bank","seq":7,"duplicate":true}`:                          7,
		`{"seq":7,"stream":"bank","domain":"hub"}`:                            7,
		`{"type":"io.nats.jetstream.api.v1.pub_ack","stream":"bank","seq":1}`: 1,
	} {
		at, err := stored([]byte(answer), "bank")
		require.NoError(t, err, answer)
		require.Equal(t, want, at, answer)
	}
	for answer, want := range map[string]error{
		`{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 3"},"stream":"bank","seq":0}`: errStale,
		`{"error":{"code":503,"err_code":10047,"description":"insufficient storage"}}`:                           journal.ErrFull,
		`{"stream":"other","seq":42}`: journal.ErrUnknown,
		`{"stream":"bank","seq":0}`:   journal.ErrUnknown,
		`{"stream":"bank","seq":}`:    journal.ErrUnknown,
		`{"stream":"bank"`:            journal.ErrUnknown,
		``:                            journal.ErrUnknown,
	} {
		_, err := stored([]byte(answer), "bank")
		require.ErrorIs(t, err, want, answer)
	}
}

func TestAnIDIsSearchedForWhenItHasMuchOfTheStream(t *testing.T) {
	full := make([]pointer, maxIndex)
	for i := range full {
		full[i].count = 1
	}
	long := func(at uint64) *position {
		return &position{at: at, head: head{last: 1000, deletedTo: 10, count: 1, index: full}}
	}
	require.True(t, long(1000).worthScanning(11))
	require.True(t, long(10_000).worthScanning(11))
	require.False(t, long(100_000).worthScanning(11), "it is one of many")
	require.False(t, long(1000).worthScanning(900), "the first of them is somewhere in the middle")
	require.False(t, (&position{at: 20, head: head{last: 20, count: 1, index: full[:19]}}).worthScanning(1), "its last message points to all")
	require.False(t, (&position{at: 2, head: head{last: 500, count: 500}}).worthScanning(1))
}

// deafInbox is an inbox without a connection: nobody answers.
func deafInbox() *inbox { return &inbox{questions: map[string]*question{}, line: newLine()} }

func (in *inbox) asked() *question {
	return &question{in: in, line: in.line, answers: make(chan *nats.Msg, 2), heard: time.Now()}
}

func TestQuestionsThatWereSentTogetherWaitTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := deafInbox()
		var questions []*question
		for range prefetch {
			questions = append(questions, in.asked())
		}
		begun := time.Now()
		for _, q := range questions {
			_, err := q.answer(t.Context(), requestPatience)
			require.ErrorIs(t, err, nats.ErrTimeout)
		}
		require.Equal(t, requestPatience, time.Since(begun))
	})
}

func TestEachAnswerBeginsThePatienceAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deafInbox().asked()
		begun := time.Now()
		for range 3 {
			go func() { time.Sleep(requestPatience - time.Second); q.answers <- &nats.Msg{} }()
			_, err := q.answer(t.Context(), requestPatience)
			require.NoError(t, err)
		}
		_, err := q.answer(t.Context(), requestPatience)
		require.ErrorIs(t, err, nats.ErrTimeout)
		require.Equal(t, 4*requestPatience-3*time.Second, time.Since(begun))
	})
}

func TestABrokenConnectionEndsAllQuestionsThatItHasCarried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := deafInbox()
		before := []*question{in.asked(), in.asked()}
		answered := in.asked()
		answered.answers <- &nats.Msg{}
		in.cut(errReconnect)
		after := in.asked()
		begun := time.Now()
		for _, q := range before {
			_, err := q.answer(t.Context(), requestPatience)
			require.ErrorIs(t, err, errReconnect)
		}
		_, err := answered.answer(t.Context(), requestPatience)
		require.NoError(t, err)
		require.Zero(t, time.Since(begun))
		_, err = after.answer(t.Context(), requestPatience)
		require.ErrorIs(t, err, nats.ErrTimeout, "the next connection carries it")

		last := in.asked()
		in.cut(nats.ErrConnectionClosed)
		_, err = last.answer(t.Context(), requestPatience)
		require.ErrorIs(t, err, nats.ErrConnectionClosed)
	})
}
