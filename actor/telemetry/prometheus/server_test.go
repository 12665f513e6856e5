package prometheus_test

import (
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// A server is a Prometheus in a process of its own.
type server struct{ url string }

// startServer starts a Prometheus that scrapes the pages often, as one job, with the rules of the
// repository, which fire at once.
func startServer(t *testing.T, pages []*page) server {
	t.Helper()
	var targets []string
	for _, p := range pages {
		targets = append(targets, p.address)
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
		"--scrape.discovery-reload-interval=100ms") // it discovers the targets after 5 s, and scrapes them at once
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

// get asks the server, and decodes the data of its answer. It reports whether there was one: the
// server does not answer until it is ready.
func (s server) get(t *testing.T, path string, data any) bool {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	body := struct{ Data any }{data}
	return answer.StatusCode == http.StatusOK && json.NewDecoder(answer.Body).Decode(&body) == nil
}

// holds reports whether a query has a result.
func (s server) holds(t *testing.T, query string) bool {
	t.Helper()
	var found struct{ Result []any }
	return s.get(t, "/api/v1/query?query="+url.QueryEscape(query), &found) && len(found.Result) > 0
}

// firing returns the alerts that fire, each by its name and what it is about: those of its labels
// that the rules set apart, in this order.
func (s server) firing(t *testing.T) []string {
	t.Helper()
	var data struct {
		Alerts []struct {
			State  string
			Labels map[string]string
		}
	}
	require.True(t, s.get(t, "/api/v1/alerts", &data), "no answer")
	var all []string
	for _, a := range data.Alerts {
		if a.State != "firing" {
			continue
		}
		name := []string{a.Labels["alertname"]}
		for _, label := range []string{"singleton", "kind", "journal", "error", "projection", "type", "instance"} {
			if value := a.Labels[label]; value != "" {
				name = append(name, value)
			}
		}
		all = append(all, strings.Join(name, " "))
	}
	return all
}

// every calls f every 100 ms until it returns true.
func every(t *testing.T, f func() bool) (ended bool) {
	t.Helper()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for limit := time.After(30 * time.Second); ; {
		if f() {
			return true
		}
		select {
		case <-again.C:
		case <-limit:
			return false
		}
	}
}
