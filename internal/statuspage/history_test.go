package statuspage

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/history"
)

func TestTheHistoryIsJSONAndNeverNull(t *testing.T) {
	f := newFake()
	h := New(f, Options{})
	require.Contains(t, ask(h, "GET", "/history").Body.String(), `"events": []`)
	at := time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC)
	f.history = History{Time: at, Node: "anna", Events: []history.Event{{
		Kind: "downing", Subject: "bert", Reason: "this side is the majority", Node: "anna", Count: 1, First: at, Last: at,
	}}}
	w := ask(h, "GET", "/history")
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))
	var got History
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
	require.Equal(t, f.history, got)
}
