package prometheus_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/understudy-go/understudy/actor/telemetry/prometheus"
	"github.com/understudy-go/understudy/cluster"
)

// A page is where a Prometheus finds the metrics of one node. It has an address before the node
// has started, and after the node has crashed.
type page struct {
	address string
	shown   atomic.Pointer[http.ServeMux] // nil for no node
}

func newPage(t *testing.T) *page {
	t.Helper()
	p := &page{}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	p.address = strings.TrimPrefix(s.URL, "http://")
	return p
}

// show lets p be the page of n.
func (p *page) show(n *cluster.Node) {
	mux := http.NewServeMux()
	mux.Handle("/cluster/", http.StripPrefix("/cluster", n.Handler(cluster.WithMetrics(prometheus.Handler(n.System)))))
	p.shown.Store(mux)
}

// hide lets p be the page of no node.
func (p *page) hide() { p.shown.Store(nil) }

// ServeHTTP implements [http.Handler].
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if mux := p.shown.Load(); mux != nil {
		mux.ServeHTTP(w, r)
		return
	}
	http.Error(w, "no node runs here", http.StatusServiceUnavailable)
}
