package roll

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// served is a node that answers with a code, and says so if it is given a channel.
func served(t *testing.T, code int, asked ...chan<- struct{}) *node {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, to := range asked {
			select {
			case to <- struct{}{}:
			case <-r.Context().Done():
			}
		}
		w.WriteHeader(code)
	}))
	t.Cleanup(s.Close)
	return &node{http: strings.TrimPrefix(s.URL, "http://")}
}

func TestARequestGoesToAnotherNodeWhenOneCannotServeIt(t *testing.T) {
	at, err := freeAddresses(1)
	require.NoError(t, err)
	gone := at[0]
	for want, nodes := range map[string][]*node{
		"":    {{http: gone}, served(t, 503), served(t, 200)},
		"404": {{http: gone}, served(t, 404), served(t, 200)},
	} {
		l := &requests{method: http.MethodPut, url: "http://{http}/{n}", nodes: nodes}
		err := l.one(t.Context(), 0)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}

func TestRequestsAreCounted(t *testing.T) {
	for code, failures := range map[int]int{200: 0, 404: 1} {
		asked := make(chan struct{})
		n := served(t, code, asked)
		l, err := newLoad("GET http://{http}/{n}", []*node{n})
		require.NoError(t, err)
		require.NoError(t, l.begin(t.Context()))
		for range 3 { // the third request follows the answers to two
			<-asked
		}
		answered, found := l.end()
		require.Len(t, found, failures)
		require.Equal(t, failures == 0, answered >= 2)
	}
}

// loaded begins a load of two nodes that answer with the code at once.
func loaded(t *testing.T, code *atomic.Int64) *requests {
	t.Helper()
	l, err := newLoad("PUT http://{http}/{n}", []*node{{name: "n1", http: "127.0.0.1:1"}, {name: "n2", http: "127.0.0.1:2"}})
	require.NoError(t, err)
	r := l.(*requests)
	r.client.Transport = answers(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: int(code.Load()), Status: strconv.FormatInt(code.Load(), 10), Body: http.NoBody}, nil
	})
	require.NoError(t, r.begin(t.Context()))
	return r
}

type answers func(*http.Request) (*http.Response, error)

func (f answers) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestALoadSaysWhatHasFailedSinceItWasAskedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var code atomic.Int64
		code.Store(200)
		l := loaded(t, &code)
		require.Empty(t, l.meet(t.Context()))
		code.Store(400)
		found := l.meet(t.Context())
		require.Len(t, found, 1)
		require.Equal(t, "roll:load", found[0].Key())
		require.Regexp(t, `^(\d+) of (\d+) requests have failed. The first one: PUT http://127.0.0.1:[12]/\d+ on n[12]: 400`, found[0].Text)
		code.Store(200)
		synctest.Wait() // for requests of the same moment
		l.failed()
		require.Empty(t, l.meet(t.Context()))
		answered, found := l.end()
		require.Empty(t, found)
		require.Greater(t, answered, 20)
	})
}

// Otherwise the last node would be updated, and the first rolled back, before a request fails.
func TestALoadMeetsAClusterUntilItsRequestsAreOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var code atomic.Int64
		code.Store(200)
		l := loaded(t, &code)
		require.Empty(t, l.meet(t.Context()))
		code.Store(500)
		begun := time.Now()
		require.Contains(t, l.meet(t.Context())[0].Text, "500")
		require.GreaterOrEqual(t, time.Since(begun), patience)
		l.end()
	})
}

func TestACommandMustRunUntilItIsStopped(t *testing.T) {
	for text, want := range map[string]string{"sleep 600": "", "true": "must run until SIGTERM. its process has ended (exit status 0)", "ls --no-such": "has printed:\nls: "} {
		l, err := newLoad(text, nil)
		require.NoError(t, err)
		require.NoError(t, l.begin(t.Context()))
		found := l.meet(t.Context())
		_, after := l.end()
		require.Empty(t, after, "it is said once")
		if want == "" {
			require.Empty(t, found)
			continue
		}
		require.Contains(t, found[0].Text, want)
	}
	l, err := newLoad("/no/such/command", nil)
	require.NoError(t, err)
	require.ErrorContains(t, l.begin(t.Context()), "-load: ")
}

func TestAddressesDiffer(t *testing.T) {
	all, err := freeAddresses(50)
	require.NoError(t, err)
	slices.Sort(all)
	require.Len(t, slices.Compact(all), 50)
}
