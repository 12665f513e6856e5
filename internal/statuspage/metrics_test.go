package statuspage

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// measured returns the answer that a scraper receives.
func measured(t *testing.T, s Snapshot) string {
	t.Helper()
	f := newFake()
	f.quietly(func(x *Snapshot) { *x = s })
	w := httptest.NewRecorder()
	New(f, nil).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	require.Equal(t, 200, w.Code)
	require.Equal(t, "text/plain; version=0.0.4; charset=utf-8", w.Header().Get("Content-Type"))
	return w.Body.String()
}

// The lines that a scraper accepts, by the text format of Prometheus.
var (
	helpLine   = regexp.MustCompile(`^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (\S.*)$`)
	typeLine   = regexp.MustCompile(`^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (gauge|counter)$`)
	sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*",?)+\})? ([0-9]+)$`)
)

// requireFormat fails unless a scraper accepts text: each family once, with its help, type and
// samples together, and no sample twice.
func requireFormat(t *testing.T, text string) {
	t.Helper()
	require.True(t, strings.HasSuffix(text, "\n"))
	family, kind := "", ""
	families, samples := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "# HELP"):
			m := helpLine.FindStringSubmatch(line)
			require.NotNil(t, m, line)
			require.False(t, families[m[1]], line)
			family, kind = m[1], ""
			families[family] = true
		case strings.HasPrefix(line, "# TYPE"):
			m := typeLine.FindStringSubmatch(line)
			require.NotNil(t, m, line)
			require.Equal(t, family, m[1])
			kind = m[2]
			require.Equal(t, kind == "counter", strings.HasSuffix(family, "_total"), line)
		default:
			m := sampleLine.FindStringSubmatch(line)
			require.NotNil(t, m, line)
			require.Equal(t, family, m[1])
			require.NotEmpty(t, kind)
			require.False(t, samples[m[1]+m[2]], line)
			samples[m[1]+m[2]] = true
		}
	}
}

func TestMetricsCountMembersAndShowSingletons(t *testing.T) {
	text := measured(t, Snapshot{
		Converged: true,
		Members:   []Member{{ID: "a:1#1", Name: "anna", Status: "up", Reachable: true}, {Status: "up"}, {Status: "leaving", Reachable: true}},
		Singletons: []Singleton{
			{Name: "here", Phase: "host", Here: true, Held: 1, Unacknowledged: 2, Dropped: 3, Starts: 4, Failures: 5, GenerationTerm: 6, GenerationSeq: 7, Lease: "here by node-1", LeaseHeld: true},
			{Name: "misfit", Phase: "pending", Mismatch: "the role differs"},
			{Name: "elsewhere"},
			{Name: "looping", CrashLoop: true, AtHost: &AtHost{Member: "a:1#1", Starts: 8, Failures: 9, RestartsInARow: 4}},
			{Name: "homeless", Nowhere: true},
		},
		FiguresLeftOut: 10, Unanswered: []string{"b:1#1"},
	})
	requireFormat(t, text)
	for _, line := range []string{
		`understudy_members{status="up"} 2`,
		`understudy_members{status="leaving"} 1`,
		`understudy_members{status="down"} 0`,
		`understudy_members_unreachable 1`,
		`understudy_converged 1`,
		`understudy_singleton_hosted{singleton="here"} 1`,
		`understudy_singleton_phase{singleton="here",phase="host"} 1`,
		`understudy_singleton_phase{singleton="here",phase="handing over"} 0`,
		`understudy_singleton_generation_term{singleton="here"} 6`,
		`understudy_singleton_generation_seq{singleton="here"} 7`,
		`understudy_singleton_lease_held{singleton="here"} 1`,
		`understudy_singleton_mismatch{singleton="here"} 0`,
		`understudy_singleton_mismatch{singleton="misfit"} 1`,
		`understudy_singleton_held_messages{singleton="here"} 1`,
		`understudy_singleton_unacknowledged_messages{singleton="here"} 2`,
		`understudy_singleton_dropped_messages_total{singleton="here"} 3`,
		`understudy_singleton_starts_total{singleton="here"} 4`,
		`understudy_singleton_failures_total{singleton="here"} 5`,
		`understudy_singleton_host_starts_total{singleton="looping",host="anna"} 8`,
		`understudy_singleton_host_failures_total{singleton="looping",host="anna"} 9`,
		`understudy_singleton_host_restarts_in_a_row{singleton="looping",host="anna"} 4`,
		`understudy_singleton_crash_loop{singleton="looping",host="anna"} 1`,
		`understudy_singleton_nowhere{singleton="looping"} 0`,
		`understudy_singleton_nowhere{singleton="homeless"} 1`,
		`understudy_singleton_figures_left_out 10`,
		`understudy_singleton_hosts_unanswered 1`,
	} {
		require.Contains(t, text, line+"\n")
	}
	require.NotContains(t, text, "elsewhere", "it has no manager here")
	require.NotContains(t, text, `lease_held{singleton="misfit"}`, "it has no lease")
}

func TestMetricsOfNothingAreStillMetrics(t *testing.T) {
	text := measured(t, Snapshot{})
	requireFormat(t, text)
	require.Contains(t, text, "understudy_members{status=\"up\"} 0\n")
}

func TestLabelsOfMetricsAreEscaped(t *testing.T) {
	text := measured(t, Snapshot{Singletons: []Singleton{{Name: "a\\b\"c\nd\xff", Phase: "host"}}})
	requireFormat(t, text)
	require.Contains(t, text, `{singleton="a\\b\"c\nd`+"\uFFFD"+`"}`)
	require.Equal(t, `a\\b\nc`, escapeHelp("a\\b\nc"))
}
