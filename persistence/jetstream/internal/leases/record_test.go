package leases

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	for _, holder := range []string{"", "node-1/X", `a "b" c\`, "a\nb", "\xff", "ä日本", "%q token 7", everyByte()} {
		r := newRecord(holder, 1<<63+7, 1500*time.Millisecond)
		r.revision = 12
		got, err := parseRecord(entry{revision: 12, value: r.encode()})
		require.NoError(t, err, "%q", holder)
		require.Equal(t, r, got)
	}
}

func everyByte() string {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return string(b)
}

func TestADeletionIsARecordOfNobody(t *testing.T) {
	r, err := parseRecord(entry{revision: 7})
	require.NoError(t, err)
	require.Equal(t, record{revision: 7}, r)
}

func TestWhatOthersHaveWrittenIsNoRecord(t *testing.T) {
	for _, value := range []string{"x", `holder "a"`, `holder "a" token -1 ttl 5 write X`, `{"holder":"a"}`} {
		_, err := parseRecord(entry{revision: 1, value: []byte(value)})
		require.ErrorContains(t, err, "give Open another Bucket", value)
	}
	_, err := usedTokens(entry{revision: 1, value: []byte("many")})
	require.ErrorContains(t, err, "give Open another Bucket")
}
