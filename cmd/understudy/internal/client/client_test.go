package client

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// answering is a server that answers each request with a status and a text.
func answering(t *testing.T, code int, text string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = w.Write([]byte(text)) // the client has an error then
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func mustNew(t *testing.T, cfg Config) *Client {
	t.Helper()
	if cfg.Timeout == 0 {
		cfg.Timeout = 10 * time.Second
	}
	c, err := New(cfg)
	require.NoError(t, err)
	return c
}

const small = `{"self": {"name": "anna"}, "live": [{"ok": true}], "newer": 1}`

func TestTheFirstNodeThatAnswersIsAsked(t *testing.T) {
	c := mustNew(t, Config{URLs: []string{"http://127.0.0.1:1", " " + answering(t, 200, small) + "/cluster", answering(t, 500, "never asked")}})
	s, err := c.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, status.Snapshot{Self: status.Member{Name: "anna"}, Live: []status.Check{{OK: true}}}, s)

	c = mustNew(t, Config{URLs: []string{"http://ada:secret@127.0.0.1:1/a", "http://127.0.0.1:1/b"}})
	_, err = c.Status(t.Context())
	require.ErrorIs(t, err, ErrSilent)
	require.ErrorContains(t, err, "no node answers; http://ada:xxxxx@127.0.0.1:1/a: dial tcp 127.0.0.1:1:")
	require.ErrorContains(t, err, "; http://127.0.0.1:1/b: dial")
	require.NotContains(t, err.Error(), "secret")
}

func TestAnAnswerThatIsNotOfANodeSaysWhatToDo(t *testing.T) {
	for text, url := range map[string]string{
		"does the URL lead to node.Handler()?": answering(t, 404, "404 page not found"),
		"is it of an older release?":           answering(t, 404, "no such page\n"),
		"the answer is no JSON of a node":      answering(t, 200, "<html>"),
		"its status has no checks":             answering(t, 200, "{}"),
		"set UNDERSTUDY_BASIC":                 answering(t, 401, "who are you?"),
		"broken (500 Internal Server Error)":   answering(t, 500, "broken\n"),
	} {
		_, err := mustNew(t, Config{URLs: []string{url}}).Status(t.Context())
		require.ErrorIs(t, err, ErrRefused)
		require.ErrorContains(t, err, text)
	}
	err := mustNew(t, Config{URLs: []string{answering(t, 404, "no such page")}}).Down(t.Context(), "anna")
	require.ErrorIs(t, err, status.ErrNoActions)
}

func TestHTTPSTrustsTheFileWithCertificates(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(small)) // the client has an error then
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	_, err := mustNew(t, Config{URLs: []string{server.URL}, CA: file}).Status(t.Context())
	require.NoError(t, err)
	_, err = mustNew(t, Config{URLs: []string{server.URL}}).Status(t.Context())
	require.ErrorContains(t, err, "certificate")

	_, err = New(Config{URLs: []string{server.URL}, CA: filepath.Join(t.TempDir(), "absent")})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(file, []byte("no certificate"), 0o600))
	_, err = New(Config{URLs: []string{server.URL}, CA: file})
	require.ErrorContains(t, err, "has no certificate in PEM")
}

func TestARequestDoesNotWaitLongerThanItMay(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, _ *http.Request) { <-release }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })
	_, err := mustNew(t, Config{URLs: []string{server.URL}, Timeout: 10 * time.Millisecond}).Status(t.Context())
	require.ErrorIs(t, err, ErrSilent)
	require.ErrorContains(t, err, "deadline exceeded")
}

func TestWhatIsNoURLIsRefused(t *testing.T) {
	for _, url := range []string{"", "127.0.0.1:8080", "ftp://host/", "http://", "://"} {
		_, err := New(Config{URLs: []string{url}})
		require.Error(t, err, url)
	}
	_, err := New(Config{})
	require.ErrorContains(t, err, "name the URL")
	_, err = New(Config{URLs: []string{"http://a"}, User: "ada"})
	require.ErrorContains(t, err, "user:password")
}

func TestANodeOfAnOlderReleaseServesFewerPages(t *testing.T) {
	c := mustNew(t, Config{URLs: []string{answering(t, 404, "no such page\n")}})
	d, err := c.Details(t.Context())
	require.NoError(t, err)
	require.Equal(t, status.Details{}, d)
	a, err := c.Actors(t.Context())
	require.NoError(t, err)
	require.Equal(t, status.Actors{}, a)

	c = mustNew(t, Config{URLs: []string{answering(t, 200, `{"problems": [{"kind": "circle"}], "links": [{"state": "connected"}]}`)}})
	d, err = c.Details(t.Context())
	require.NoError(t, err)
	require.Equal(t, []status.Link{{State: "connected"}}, d.Links)
	a, err = c.Actors(t.Context())
	require.NoError(t, err)
	require.Equal(t, "circle", a.Problems[0].Kind)

	_, err = mustNew(t, Config{URLs: []string{answering(t, 401, "")}}).Details(t.Context())
	require.ErrorIs(t, err, ErrRefused)
}

func TestEachNodeIsAskedForItsHistory(t *testing.T) {
	anna := answering(t, 200, `{"node": "anna", "events": [{"kind": "downing"}]}`)
	older := answering(t, 404, "no such page")
	all, silent, err := mustNew(t, Config{URLs: []string{"http://ada:secret@127.0.0.1:1", anna, older}}).Histories(t.Context())
	require.NoError(t, err)
	require.Equal(t, []status.History{{Node: "anna", Events: []status.Event{{Kind: "downing"}}}}, all)
	require.Len(t, silent, 2)
	require.Contains(t, silent[0], "no node answers")
	require.NotContains(t, silent[0]+silent[1], "secret")
	require.Contains(t, silent[1], "is it of an older release?")

	_, _, err = mustNew(t, Config{URLs: []string{older, answering(t, 200, "{}")}}).Histories(t.Context())
	require.ErrorContains(t, err, "is it of an older release?")
	require.ErrorContains(t, err, "its answer has no events")
}

func TestAnAnswerWithoutDeadLettersIsAnError(t *testing.T) {
	_, err := mustNew(t, Config{URLs: []string{answering(t, 200, "{}")}}).DeadLetters(t.Context(), "", "", -1)
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorContains(t, err, "its answer has no dead letters")
	_, err = mustNew(t, Config{URLs: []string{answering(t, 200, `{"byReason": {}, "letters": []}`)}}).DeadLetters(t.Context(), "", "", -1)
	require.NoError(t, err)
}
