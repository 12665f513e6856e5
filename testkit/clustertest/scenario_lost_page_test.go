//go:build !quick

package clustertest_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

func TestTheStatusPageFoundsAClusterWithoutWhatIsLostWhereActionsAreAllowed(t *testing.T) {
	lostMajority(t, func(t *testing.T, c *clustertest.Cluster) {
		post := func(h http.Handler, query string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/actions/found-without"+query, nil)
			r.Header.Set("Understudy-Action", "1")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		n3 := c.Node("n3")
		w := httptest.NewRecorder()
		n3.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/status", nil))
		require.Contains(t, w.Body.String(), "\"absent\": [\n    \"n1:7355\",\n    \"n4:7355\"\n  ]")
		require.Equal(t, http.StatusNotFound, post(n3.Handler(), "?address=n1:7355").Code)
		page := n3.Handler(cluster.AllowActions(func(*http.Request) error { return nil }))
		require.Equal(t, http.StatusConflict, post(page, "?address=n2:7355").Code)
		require.Contains(t, post(page, "?address=n2:7355").Body.String(), "stop it first")
		require.Equal(t, http.StatusAccepted, post(page, "?address=n1:7355&address=n4:7355").Code)
		whole(t, c, 10*time.Second, "n2", "n3")
	})
}
