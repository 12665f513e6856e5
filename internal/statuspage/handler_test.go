package statuspage

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/status"
)

// A fake is a source that tests can change.
type fake struct {
	mu       sync.Mutex // guards the fields below
	snapshot Snapshot
	letters  DeadLetters
	givenUp  GivenUp
	actors   Actors
	problems []status.Problem
	history  History
	changed  chan struct{}
	ended    bool
}

func newFake() *fake {
	ok := []Check{{Name: "running", OK: true}}
	return &fake{snapshot: Snapshot{Cluster: "shop", Version: 1, Live: ok, Ready: ok}, changed: make(chan struct{})}
}

func (f *fake) Refresh(context.Context) {}

func (f *fake) History() History { return f.history }

func (f *fake) DeadLetters() DeadLetters { return f.letters }

func (f *fake) GivenUp() GivenUp { return f.givenUp }

func (f *fake) Actors() Actors { return f.actors }

func (f *fake) Details() (map[string]any, []status.Problem) {
	return map[string]any{"links": []string{}}, f.problems
}

func (f *fake) Snapshot() (Snapshot, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return f.snapshot, nil
	}
	return f.snapshot, f.changed
}

// change changes the snapshot and its version, and notifies readers.
func (f *fake) change(how func(*Snapshot)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.snapshot.Version++
	how(&f.snapshot)
	close(f.changed)
	f.changed = make(chan struct{})
}

// quietly changes the snapshot without notifying readers.
func (f *fake) quietly(how func(*Snapshot)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	how(&f.snapshot)
}

func (f *fake) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	close(f.changed)
}

func ask(h http.Handler, method, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestEachPathAnswersToItsMethodsAndNoOther(t *testing.T) {
	h := New(newFake(), Options{})
	for _, target := range []string{"/", "/page.js", "/drawing.js", "/tables.js", "/history.js", "/founding.js", "/letters.js", "/actors.js", "/polling.js", "/page.css", "/icon.svg", "/status", "/dead-letters", "/actors", "/details", "/history", "/details.js", "/elements.js", "/livez", "/readyz"} {
		require.Equal(t, http.StatusOK, ask(h, "GET", target).Code, target)
		require.Equal(t, http.StatusOK, ask(h, "HEAD", target).Code, target)
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS"} {
			w := ask(h, method, target)
			require.Equal(t, http.StatusMethodNotAllowed, w.Code, "%s %s", method, target)
			require.Equal(t, "GET, HEAD", w.Header().Get("Allow"))
		}
	}
	for _, target := range []string{"/index.html", "/assets/page.js", "/x", "/status/", "/actions/down", "/actions/leave", "/actions/found-without", "/../status", "//status"} {
		require.Equal(t, http.StatusNotFound, ask(h, "GET", target).Code, target)
		require.Equal(t, http.StatusNotFound, ask(h, "POST", target).Code, target)
	}
}

func TestTheHeadOfTheEventsDoesNotStream(t *testing.T) {
	w := ask(New(newFake(), Options{}), "HEAD", "/events")
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "text/event-stream", w.Header().Get("Content-Type"))
	require.Empty(t, w.Body.String())
}

func TestThePageNeedsNothingFromElsewhereAndNoRoot(t *testing.T) {
	h := New(newFake(), Options{})
	linked := regexp.MustCompile(`(?:src|href)="([^"]*)"|from "([^"]*)"|EventSource\("([^"]*)"`)
	entries, err := fs.ReadDir(files, "assets")
	require.NoError(t, err)
	for _, entry := range entries {
		content, err := fs.ReadFile(files, path.Join("assets", entry.Name()))
		require.NoError(t, err)
		require.NotContains(t, string(content), "innerHTML")
		for _, found := range linked.FindAllStringSubmatch(string(content), -1) {
			link := found[1] + found[2] + found[3]
			require.NotContains(t, link, "//", entry.Name())
			require.False(t, strings.HasPrefix(link, "/"), "%s links to %s, which is wrong below a prefix", entry.Name(), link)
			target, _, _ := strings.Cut("/"+strings.TrimPrefix(link, "./"), "?")
			require.Equal(t, http.StatusOK, ask(h, "HEAD", target).Code, "%s links to %s", entry.Name(), link)
		}
	}
}

func TestNothingIsLetInAndNothingIsKept(t *testing.T) {
	h := New(newFake(), Options{})
	for _, target := range []string{"/", "/status", "/readyz", "/nothing"} {
		header := ask(h, "GET", target).Header()
		require.Contains(t, header.Get("Content-Security-Policy"), "default-src 'none'")
		require.Contains(t, header.Get("Content-Security-Policy"), "frame-ancestors 'none'")
		require.NotContains(t, header.Get("Content-Security-Policy"), "unsafe")
		require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
		require.Equal(t, "DENY", header.Get("X-Frame-Options"))
		require.NotEmpty(t, header.Get("Cache-Control"))
	}
	require.Equal(t, "no-store", ask(h, "GET", "/status").Header().Get("Cache-Control"))
}

func TestABrowserKeepsThePageUntilItHasChanged(t *testing.T) {
	h := New(newFake(), Options{})
	tag := ask(h, "GET", "/page.js").Header().Get("ETag")
	require.NotEmpty(t, tag)
	require.Equal(t, http.StatusNotModified, ask(h, "GET", "/page.js", "If-None-Match", tag).Code)
	require.Equal(t, "no-cache", ask(h, "GET", "/page.js").Header().Get("Cache-Control"))
	require.Equal(t, "text/javascript; charset=utf-8", ask(h, "GET", "/page.js").Header().Get("Content-Type"))
}

func TestTheStatusIsJSONThatHTMLDoesNotTakeForMarkup(t *testing.T) {
	f := newFake()
	f.quietly(func(s *Snapshot) { s.Self.Name = "<script>" })
	w := ask(New(f, Options{}), "GET", "/status")
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))
	require.NotContains(t, w.Body.String(), "<")
	var got Snapshot
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
	require.Equal(t, "<script>", got.Self.Name)
}

func TestProbesAnswerAsThoseOfKubernetes(t *testing.T) {
	f := newFake()
	f.quietly(func(s *Snapshot) {
		s.Ready = []Check{{Name: "membership", OK: true}, {Name: "agreement", Reason: "they differ"}}
	})
	h := New(f, Options{})
	w := ask(h, "GET", "/livez")
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "ok", w.Body.String())
	require.Equal(t, "[+]running ok\nlivez check passed\n", ask(h, "GET", "/livez?verbose").Body.String())
	w = ask(h, "GET", "/readyz")
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Equal(t, "[+]membership ok\n[-]agreement failed: they differ\nreadyz check failed\n", w.Body.String())
	require.Equal(t, "text/plain; charset=utf-8", w.Header().Get("Content-Type"))
}

func TestBelowAPrefixAllIsTheSame(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/ops/cluster/", http.StripPrefix("/ops/cluster", New(newFake(), Options{})))
	server := httptest.NewServer(mux)
	defer server.Close()
	for target, within := range map[string]string{"": "/ops/cluster/", "/": "/ops/cluster/", "/status": "/ops/cluster/status", "/page.js": "/ops/cluster/page.js"} {
		answer, err := server.Client().Get(server.URL + "/ops/cluster" + target)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, answer.Body)
		require.NoError(t, errors.Join(err, answer.Body.Close()))
		require.Equal(t, http.StatusOK, answer.StatusCode, target)
		require.Equal(t, within, answer.Request.URL.Path)
	}
}

// deeds records the requested actions.
type deeds struct {
	down    []string
	without []string
	left    int
	again   []uint64
	dropped []uint64
	letters []uint64
	tried   []string
}

func (d *deeds) actions(authorize func(*http.Request) error) *Actions {
	return &Actions{
		Authorize: authorize,
		Down: func(name string) error {
			if name != "n2" {
				return errors.New("no such member")
			}
			d.down = append(d.down, name)
			return nil
		},
		FoundWithout: func(addresses []string) error {
			if len(addresses) != 2 {
				return errors.New("n1:1 answers")
			}
			d.without = addresses
			return nil
		},
		Leave:   func() { d.left++ },
		Resend:  func(number uint64) error { return kept(&d.again, number) },
		Discard: func(number uint64) error { return kept(&d.dropped, number) },

		ResendLetter: func(number uint64) (Resent, error) {
			return Resent{Number: LetterNumber(number), To: "understudy://shop/user/till", Outcome: DeadAgain, Reason: "no such actor", Again: "d18"}, kept(&d.letters, number)
		},
		DiscardLetter: func(number uint64) error { return kept(&d.letters, number) },
		Retry: func(_ context.Context, projection string) (Retried, error) {
			d.tried = append(d.tried, projection)
			if projection != "prices" {
				return Retried{}, errors.New("no such projection")
			}
			return Retried{Projection: projection, Held: 3}, nil
		},
	}
}

// kept notes a message, unless its number is above 9.
func kept(messages *[]uint64, number uint64) error {
	if number > 9 {
		return errors.New("no such message")
	}
	*messages = append(*messages, number)
	return nil
}

func TestActionsNeedPermissionTheHeaderAndNoForeignPage(t *testing.T) {
	var did deeds
	h := New(newFake(), Options{Actions: did.actions(func(r *http.Request) error {
		if r.Header.Get("Authorization") != "Bearer letmein" {
			return errors.New("who are you?")
		}
		return nil
	})})
	const mark, permit, token = ActionHeader, "Authorization", "Bearer letmein"
	w := ask(h, "POST", "/actions/down?member=n2", mark, "1")
	require.Equal(t, http.StatusForbidden, w.Code)
	require.Equal(t, "who are you?\n", w.Body.String())
	require.Equal(t, http.StatusForbidden, ask(h, "POST", "/actions/leave", permit, token).Code, "without the header")
	require.Equal(t, http.StatusForbidden, ask(h, "POST", "/actions/leave", permit, token, mark, "1", "Sec-Fetch-Site", "cross-site").Code)
	require.Equal(t, http.StatusForbidden, ask(h, "POST", "/actions/leave", permit, token, mark, "1", "Origin", "https://evil.example").Code)
	require.Equal(t, http.StatusMethodNotAllowed, ask(h, "GET", "/actions/leave", permit, token, mark, "1").Code)
	require.Equal(t, deeds{}, did)

	require.Equal(t, http.StatusBadRequest, ask(h, "POST", "/actions/down", permit, token, mark, "1").Code)
	require.Equal(t, http.StatusNotFound, ask(h, "POST", "/actions/down?member=n9", permit, token, mark, "1").Code)
	require.Equal(t, http.StatusAccepted, ask(h, "POST", "/actions/down?member=n2", permit, token, mark, "1", "Sec-Fetch-Site", "same-origin").Code)
	require.Equal(t, http.StatusAccepted, ask(h, "POST", "/actions/leave", permit, token, mark, "1").Code)
	require.Equal(t, http.StatusForbidden, ask(h, "POST", "/actions/found-without?address=n1:1", mark, "1").Code)
	require.Equal(t, http.StatusBadRequest, ask(h, "POST", "/actions/found-without", permit, token, mark, "1").Code)
	w = ask(h, "POST", "/actions/found-without?address=n1:1", permit, token, mark, "1")
	require.Equal(t, http.StatusConflict, w.Code)
	require.Equal(t, "n1:1 answers\n", w.Body.String())
	require.Equal(t, http.StatusAccepted, ask(h, "POST", "/actions/found-without?address=n1:1&address=n2:1", permit, token, mark, "1").Code)
	for _, act := range []string{"resend", "discard"} {
		require.Equal(t, http.StatusForbidden, ask(h, "POST", "/actions/"+act+"?number=7", mark, "1").Code)
		require.Equal(t, http.StatusBadRequest, ask(h, "POST", "/actions/"+act+"?number=first", permit, token, mark, "1").Code)
		w = ask(h, "POST", "/actions/"+act+"?number=10", permit, token, mark, "1")
		require.Equal(t, http.StatusNotFound, w.Code)
		require.Equal(t, "no such message\n", w.Body.String())
		require.Equal(t, http.StatusAccepted, ask(h, "POST", "/actions/"+act+"?number=7", permit, token, mark, "1").Code)
	}
	require.Equal(t, http.StatusForbidden, ask(h, "POST", "/actions/resend?number=d7", mark, "1").Code)
	require.Equal(t, http.StatusNotFound, ask(h, "POST", "/actions/resend?number=d10", permit, token, mark, "1").Code)
	w = ask(h, "POST", "/actions/resend?number=d7", permit, token, mark, "1")
	require.Equal(t, http.StatusAccepted, w.Code)
	require.JSONEq(t, `{"number": "d7", "to": "understudy://shop/user/till", "outcome": "dead again", "reason": "no such actor", "again": "d18"}`, w.Body.String())
	w = ask(h, "POST", "/actions/discard?number=d8", permit, token, mark, "1")
	require.Equal(t, http.StatusAccepted, w.Code)
	require.Empty(t, w.Body.String())
	require.Equal(t, http.StatusForbidden, ask(h, "POST", "/actions/retry?projection=prices", mark, "1").Code)
	require.Equal(t, http.StatusBadRequest, ask(h, "POST", "/actions/retry", permit, token, mark, "1").Code)
	require.Equal(t, http.StatusNotFound, ask(h, "POST", "/actions/retry?projection=orders", permit, token, mark, "1").Code)
	w = ask(h, "POST", "/actions/retry?projection=prices", permit, token, mark, "1")
	require.Equal(t, http.StatusAccepted, w.Code)
	require.JSONEq(t, `{"projection": "prices", "done": false, "held": 3}`, w.Body.String())
	require.Equal(t, deeds{down: []string{"n2"}, without: []string{"n1:1", "n2:1"}, left: 1, again: []uint64{7}, dropped: []uint64{7}, letters: []uint64{7, 8}, tried: []string{"orders", "prices"}}, did)
}

func TestTheStatusSaysWhetherThereAreActions(t *testing.T) {
	require.Contains(t, ask(New(newFake(), Options{}), "GET", "/status").Body.String(), `"actions": false`)
	var did deeds
	h := New(newFake(), Options{Actions: did.actions(func(*http.Request) error { return nil })})
	require.Contains(t, ask(h, "GET", "/status").Body.String(), `"actions": true`)
}

func TestMetricsAreThoseOfTheProgram(t *testing.T) {
	numbers := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("numbers")) })
	w := ask(New(newFake(), Options{Metrics: numbers}), "GET", "/metrics")
	require.Equal(t, "numbers", w.Body.String())
	w = ask(New(newFake(), Options{}), "GET", "/metrics")
	require.Equal(t, http.StatusNotFound, w.Code)
	require.Contains(t, w.Body.String(), "cluster.WithMetrics")
}
