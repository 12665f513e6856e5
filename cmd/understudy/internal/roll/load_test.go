package roll

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

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

func TestACommandMustRunUntilItIsStopped(t *testing.T) {
	for text, want := range map[string]string{"sleep 600": "", "true": "has ended before the roll", "false": "exit status 1"} {
		l, err := newLoad(text, nil)
		require.NoError(t, err)
		require.NoError(t, l.begin(t.Context()))
		if want != "" {
			<-l.(*script).ended
		}
		_, found := l.end()
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
