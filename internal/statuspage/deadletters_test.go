package statuspage

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lost are three dead letters, and a fourth of another reason.
func lost() DeadLetters {
	at := time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC)
	letter := func(recipient, reason string) DeadLetter {
		return DeadLetter{Recipient: recipient, Type: "shop.Order", Reason: reason, Count: 1, First: at, Last: at}
	}
	return DeadLetters{Time: at, ByReason: map[string]uint64{"terminated": 30, "other": 1}, Letters: []DeadLetter{
		letter("understudy://shop/user/till-1", "terminated"),
		letter("understudy://shop/user/till-2", "terminated"),
		letter("understudy://shop/user/till-2", "other"),
		letter("understudy://shop/user/stock", "terminated"),
	}}
}

func TestTheDeadLettersAreJSONThatTheCallerNarrows(t *testing.T) {
	f := newFake()
	f.letters = lost()
	h := New(f, Options{})
	for _, test := range []struct {
		query   string
		want    []int // indexes
		leftOut int
	}{
		{"", []int{0, 1, 2, 3}, 0},
		{"?reason=terminated", []int{0, 1, 3}, 0},
		{"?reason=unknown", []int{}, 0},
		{"?recipient=/till", []int{0, 1, 2}, 0},
		{"?recipient=till&reason=terminated", []int{0, 1}, 0},
		{"?limit=3", []int{0, 1, 2}, 1},
		{"?limit=1&reason=terminated", []int{0}, 2},
		{"?limit=0", []int{}, 4},
		{"?limit=99", []int{0, 1, 2, 3}, 0},
	} {
		w := ask(h, "GET", "/dead-letters"+test.query)
		require.Equal(t, http.StatusOK, w.Code)
		require.Equal(t, "application/json", w.Header().Get("Content-Type"))
		var got DeadLetters
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
		want := lost()
		want.Letters, want.LeftOut = []DeadLetter{}, test.leftOut
		for _, i := range test.want {
			want.Letters = append(want.Letters, lost().Letters[i])
		}
		require.Equal(t, want, got, test.query)
	}
	for _, query := range []string{"?limit=-1", "?limit=all", "?limit=1e9"} {
		require.Equal(t, http.StatusBadRequest, ask(h, "GET", "/dead-letters"+query).Code, query)
	}
}

func TestTheStatusHasTheNumbersOfDeadLettersByReason(t *testing.T) {
	f := newFake()
	f.quietly(func(s *Snapshot) { s.DeadLetters = map[string]uint64{"terminated": 30} })
	var s Snapshot
	require.NoError(t, json.Unmarshal(ask(New(f, Options{}), "GET", "/status").Body.Bytes(), &s))
	require.Equal(t, map[string]uint64{"terminated": 30}, s.DeadLetters)
}
