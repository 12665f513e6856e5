package prometheus_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/actor/telemetry/prometheus"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/histogram"
	"github.com/understudy-go/understudy/internal/lab/busy"
)

func newSystem(t *testing.T) *actor.System {
	t.Helper()
	s := actor.NewSystem("test", actor.WithLogger(zap.NewNop()))
	t.Cleanup(func() { require.NoError(t, s.Shutdown(context.Background())) })
	return s
}

// add adds one family to the metrics of s.
func add(s *actor.System, f telemetry.Family) {
	telemetry.AddSource(s, func() []telemetry.Family { return []telemetry.Family{f} })
}

// start starts a program of two nodes.
func start(t *testing.T) *busy.Program {
	t.Helper()
	p, err := busy.Start(t.Context(), t.TempDir(), 2)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		require.NoError(t, p.Close(ctx))
	})
	return p
}

// scrape returns what a handler answers.
func scrape(t *testing.T, h http.Handler) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	return w.Body.String()
}

func TestEachTypeOfFamilyHasItsForm(t *testing.T) {
	s := newSystem(t)
	gauge := telemetry.Family{Name: "understudy_test_gauge", Help: "A gauge.", Labels: []string{"a", "b"}}
	gauge.Add(1.5, "x\\y\"z\n", "\xff")
	counter := telemetry.Family{Name: "understudy_test_total", Help: "A counter.", Type: telemetry.Counter}
	counter.Add(7)
	var h histogram.Histogram
	h.Observe(time.Microsecond)
	h.Observe(2 * time.Second)
	times := telemetry.Family{Name: "understudy_test_seconds", Help: "A histogram.", Type: telemetry.Histogram}
	times.AddDurations(h.Read().Parts())
	for _, f := range []telemetry.Family{gauge, counter, times} {
		add(s, f)
	}
	require.NoError(t, testutil.CollectAndCompare(prometheus.NewCollector(s), strings.NewReader(`
# HELP understudy_test_gauge A gauge.
# TYPE understudy_test_gauge gauge
understudy_test_gauge{a="x\\y\"z\n",b="`+"\uFFFD"+`"} 1.5
# HELP understudy_test_seconds A histogram.
# TYPE understudy_test_seconds histogram
understudy_test_seconds_bucket{le="1.024e-06"} 1
understudy_test_seconds_bucket{le="4.096e-06"} 1
understudy_test_seconds_bucket{le="1.6384e-05"} 1
understudy_test_seconds_bucket{le="6.5536e-05"} 1
understudy_test_seconds_bucket{le="0.000262144"} 1
understudy_test_seconds_bucket{le="0.001048576"} 1
understudy_test_seconds_bucket{le="0.004194304"} 1
understudy_test_seconds_bucket{le="0.016777216"} 1
understudy_test_seconds_bucket{le="0.067108864"} 1
understudy_test_seconds_bucket{le="0.268435456"} 1
understudy_test_seconds_bucket{le="1.073741824"} 1
understudy_test_seconds_bucket{le="4.294967296"} 2
understudy_test_seconds_bucket{le="17.179869184"} 2
understudy_test_seconds_bucket{le="+Inf"} 2
understudy_test_seconds_sum 2.000001
understudy_test_seconds_count 2
# HELP understudy_test_total A counter.
# TYPE understudy_test_total counter
understudy_test_total 7
`), "understudy_test_gauge", "understudy_test_seconds", "understudy_test_total"))
}

func TestASeriesWithoutItsLabelsIsLeftOutAndCounted(t *testing.T) {
	s := newSystem(t)
	bad := telemetry.Family{Name: "understudy_test_bad", Help: "Bad.", Labels: []string{"a"}}
	bad.Add(1)
	add(s, bad)
	good := telemetry.Family{Name: "understudy_test_good", Help: "Good."}
	good.Add(1)
	add(s, good)
	_, err := testutil.CollectAndLint(prometheus.NewCollector(s))
	require.ErrorContains(t, err, "understudy_test_bad")
	h := prometheus.Handler(s)
	require.Contains(t, scrape(t, h), "\nunderstudy_test_good 1\n", "the others are served")
	require.Contains(t, scrape(t, h), "\npromhttp_metric_handler_errors_total{cause=\"gathering\"} 1\n")
}

func TestTheMetricsOfABusyClusterFollowTheRules(t *testing.T) {
	for _, n := range start(t).Nodes {
		problems, err := testutil.CollectAndLint(prometheus.NewCollector(n.System))
		require.NoError(t, err)
		require.Empty(t, problems)
		text := scrape(t, prometheus.Handler(n.System))
		require.Contains(t, text, "\nunderstudy_members{status=\"up\"} 2\n")
		require.Contains(t, text, "\ngo_goroutines ")
		require.Contains(t, text, "\nprocess_start_time_seconds ")
	}
}

func TestAScrapeUnderLoadSeesEachCounterGrow(t *testing.T) {
	s := newSystem(t)
	ref := actor.Spawn(s, behaviors.Ignore[string], "sink", actor.WithKind("sink"), actor.Bounded(1000).Block(time.Minute))
	h := prometheus.Handler(s)
	stop := make(chan struct{})
	var tellers sync.WaitGroup
	for range 2 {
		tellers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					ref.Tell("hello")
				}
			}
		})
	}
	server := httptest.NewServer(h)
	defer server.Close()
	last := ""
	for range 10 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		require.NoError(t, err)
		answer, err := server.Client().Do(req)
		require.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		_, rest, found := strings.Cut(string(text), `understudy_messages_processed_total{kind="sink"} `)
		require.True(t, found)
		last, _, _ = strings.Cut(rest, "\n")
	}
	close(stop)
	tellers.Wait()
	require.NotEqual(t, "0", last)
}

func TestSeriesThatOccurTwiceAreServedOnce(t *testing.T) {
	s := newSystem(t)
	one := telemetry.Family{Name: "understudy_test_twice", Help: "One.", Labels: []string{"a"}}
	one.Add(1, "\xff")
	one.Add(2, "\xfe") // the same, once it is valid
	other := telemetry.Family{Name: "understudy_test_twice", Help: "Another.", Labels: []string{"a"}}
	other.Add(3, "\xff")
	add(s, one)
	add(s, other)
	h := prometheus.Handler(s)
	text := scrape(t, h)
	require.Contains(t, text, "\nunderstudy_test_twice{a=\"\uFFFD\"} 2\n", "the first in the order of labels")
	require.Equal(t, 1, strings.Count(text, "\nunderstudy_test_twice{"))
	require.Contains(t, scrape(t, h), `promhttp_metric_handler_errors_total{cause="gathering"} 0`)
}
