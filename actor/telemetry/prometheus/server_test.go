package prometheus_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/understudy-go/understudy/actor/telemetry/prometheus"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/internal/lab/busy"
)

// A server is a Prometheus in a process of its own.
type server struct{ url string }

// startServer starts a Prometheus that scrapes the nodes often, with the rules of the repository,
// which fire at once.
func startServer(t *testing.T, p *busy.Program) server {
	t.Helper()
	var targets []string
	for _, n := range p.Nodes {
		mux := http.NewServeMux()
		mux.Handle("/cluster/", http.StripPrefix("/cluster", n.Handler(cluster.WithMetrics(prometheus.Handler(n.System)))))
		s := httptest.NewServer(mux)
		t.Cleanup(s.Close)
		targets = append(targets, strings.TrimPrefix(s.URL, "http://"))
	}
	dir := t.TempDir()
	hasty := readRules(t)
	for _, g := range hasty.Groups {
		for i := range g.Rules {
			g.Rules[i].For = "0s"
		}
	}
	write(t, filepath.Join(dir, "alerts.yml"), hasty)
	write(t, filepath.Join(dir, "prometheus.yml"), map[string]any{
		"global":     map[string]any{"scrape_interval": "200ms", "scrape_timeout": "200ms", "evaluation_interval": "200ms"},
		"rule_files": []string{"alerts.yml"},
		"scrape_configs": []map[string]any{{
			"job_name": "shop", "metrics_path": "/cluster/metrics", "static_configs": []map[string]any{{"targets": targets}},
		}},
	})
	address := freeAddress(t)
	cmd := exec.CommandContext(t.Context(), program(t, "prometheus"),
		"--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address,
		"--scrape.discovery-reload-interval=100ms") // the targets are known at once, and not after 5 s
	log, err := os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		require.NoError(t, log.Close())
	})
	return server{"http://" + address}
}

func write(t *testing.T, path string, content any) {
	t.Helper()
	text, err := yaml.Marshal(content)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	return l.Addr().String()
}

// firing returns the alerts that fire, each by its name and its label "singleton", if it has one.
// It is empty while the server does not answer.
func (s server) firing(ctx context.Context) map[string]bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/api/v1/alerts", nil)
	if err != nil {
		return nil
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil
	}
	defer answer.Body.Close()
	var body struct {
		Data struct {
			Alerts []struct {
				State  string
				Labels map[string]string
			}
		}
	}
	if json.NewDecoder(answer.Body).Decode(&body) != nil {
		return nil
	}
	all := map[string]bool{}
	for _, a := range body.Data.Alerts {
		if a.State == "firing" {
			all[strings.TrimSpace(a.Labels["alertname"]+" "+a.Labels["singleton"])] = true
		}
	}
	return all
}

// await waits until the named alerts fire, and calls meanwhile again and again.
func (s server) await(t *testing.T, meanwhile func(), want ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	missing := func(now map[string]bool) (names []string) {
		for _, name := range want {
			if !now[name] {
				names = append(names, name)
			}
		}
		return names
	}
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		now := s.firing(ctx)
		if len(missing(now)) == 0 {
			return
		}
		meanwhile()
		select {
		case <-again.C:
		case <-ctx.Done():
			require.Fail(t, fmt.Sprintf("%v do not fire: %v", missing(now), now))
		}
	}
}

func TestARealPrometheusSeesTheTrouble(t *testing.T) {
	program(t, "prometheus")
	p := start(t)
	p.SpawnBroken()
	p.SpawnHomeless()
	s := startServer(t, p)
	s.await(t, p.LoseMessage, "UnderstudySingletonMissing homeless", "UnderstudyCrashLoop broken", "UnderstudyDeadLetters")
	now := s.firing(t.Context())
	require.NotContains(t, now, "UnderstudySingletonMissing ledger", "it runs")
	require.NotContains(t, now, "UnderstudyLeaseHeldByNobody ledger", "its lease is held")
	require.NotContains(t, now, "UnderstudyMemberUnreachable")
	require.NoError(t, p.Crash(t.Context()))
	s.await(t, func() {}, "UnderstudyMemberUnreachable")
}
