package metadata_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/metadata"
)

func requestWithin(d time.Duration) *metadata.Request {
	r := new(metadata.Request)
	r.Within(d)
	r.Begun(metadata.Now())
	return r
}

// sent returns the metadata with r and some values as another node reads it after a while.
func sent(t *testing.T, r *metadata.Request, after time.Duration, values map[metadata.Key]string) metadata.Metadata {
	t.Helper()
	m := metadata.Metadata{}.WithRequest(r)
	for key, value := range values {
		m = m.With(key, []byte(value))
	}
	buf := m.Append(nil)
	require.LessOrEqual(t, len(buf), m.Size())
	time.Sleep(after)
	got, rest, err := metadata.Read(buf)
	require.NoError(t, err)
	require.Empty(t, rest)
	for key, value := range values {
		content, ok := got.Get(key)
		require.True(t, ok)
		require.Equal(t, value, string(content))
	}
	require.Equal(t, len(values) > 0, got.HasValues())
	return got
}

func TestWhatIsLeftOfARequestGoesToOtherNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, left := range []time.Duration{0, time.Millisecond, time.Second, 1500 * time.Millisecond, time.Minute, time.Hour, 3 * time.Hour, 10 * 365 * 24 * time.Hour} {
			for _, values := range []map[metadata.Key]string{nil, {metadata.Trace: "t"}, {metadata.Trace: "t", 2000: "x"}} {
				ends, ok := sent(t, requestWithin(max(left, 1)), 0, values).Request().Ends()
				require.True(t, ok)
				got := ends - metadata.Now()
				require.LessOrEqual(t, got, left)
				require.InDelta(t, left.Seconds(), got.Seconds(), left.Seconds()/1000+0.0001)
			}
		}
	})
}

func TestARequestTakesFiveBytes(t *testing.T) {
	m := metadata.Metadata{}.WithRequest(requestWithin(time.Second))
	require.Len(t, m.Append(nil), len(metadata.Metadata{}.Append(nil))+5)
}

func TestARequestWithoutEndIsNotSent(t *testing.T) {
	for _, r := range []*metadata.Request{new(metadata.Request), requestWithin(20 * 365 * 24 * time.Hour)} {
		require.Equal(t, []byte{metadata.Empty}, metadata.Metadata{}.WithRequest(r).Append(nil))
	}
	require.Nil(t, metadata.Metadata{}.WithRequest(requestWithin(time.Second)).Encoded(), "for a store")
}

func TestARequestOfAnotherNodeIsTakenUntilItsTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := sent(t, requestWithin(time.Second), time.Hour, nil).Request()
		require.True(t, r.Take(), "the time counts from when it was read")
		time.Sleep(time.Second)
		require.False(t, r.Take())
		require.True(t, r.Over())
	})
}

func TestASealedRequestIsTakenEvenAfterItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := metadata.Metadata{}.WithRequest(requestWithin(time.Second))
		got, rest, err := metadata.Read(m.Sealed().Append(nil))
		require.NoError(t, err)
		require.Empty(t, rest)
		require.True(t, got.Request().Sealed())
		time.Sleep(time.Minute)
		require.True(t, got.Request().Take())
		inside := got.Unsealed().Request()
		require.False(t, inside.Sealed())
		require.False(t, inside.Take())
		require.True(t, metadata.Metadata{}.Sealed().IsEmpty())
	})
}

func TestARequestIsWithdrawnUnlessSomebodyMayHaveHandledIt(t *testing.T) {
	r := requestWithin(time.Second)
	require.True(t, r.GiveUp())
	require.False(t, r.Take())
	r = requestWithin(time.Second)
	require.True(t, r.Take())
	require.False(t, r.GiveUp())
	r = requestWithin(time.Second)
	require.True(t, r.Take())
	r.Keep()
	require.True(t, r.GiveUp())
	r = requestWithin(time.Second)
	r.Share()
	r.Keep()
	require.False(t, r.GiveUp())
}

// A value under one of the keys that has another form, as a later release may send it, is ignored.
func TestAnUnknownFormOfWhatIsLeftIsKept(t *testing.T) {
	content := append([]byte{codec.MajorMap | 1, byte(metadata.Left)}, codec.AppendHead(nil, codec.MajorUint, 1<<40)...)
	m, ok := metadata.Decode(content)
	require.True(t, ok)
	require.Nil(t, m.Request())
}
