package prometheus_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/actor/telemetry/prometheus"
	"github.com/understudy-go/understudy/internal/needs"
)

// folder has the rules and the dashboard.
const folder = "../../../docs/monitoring"

// program returns the path of a program of Debian's package prometheus.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		needs.Missing(t, "%s is not installed: apt-get install prometheus", name)
	}
	return path
}

// promtool runs promtool in the folder of the rules.
func promtool(t *testing.T, input string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program(t, "promtool"), args...)
	cmd.Dir, cmd.Stdin = folder, strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// A rule is an alert.
type rule struct {
	Alert, Expr string
	For         string            `yaml:",omitempty"`
	Labels      map[string]string `yaml:",omitempty"`
	Annotations map[string]string `yaml:",omitempty"`
}

// rules are a file of rules.
type rules struct {
	Groups []struct {
		Name  string
		Rules []rule
	}
}

func readRules(t *testing.T) (r rules) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "alerts.yml"))
	require.NoError(t, err)
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&r))
	return r
}

// alerts returns all alerts.
func (r rules) alerts() (all []rule) {
	for _, g := range r.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

func TestTheAlertRulesPassTheirTests(t *testing.T) {
	promtool(t, "", "check", "rules", "alerts.yml")
	promtool(t, "", "test", "rules", "alerts_test.yml")
}

func TestPromtoolAcceptsAScrape(t *testing.T) {
	promtool(t, scrape(t, prometheus.Handler(start(t).Nodes[0].System)), "check", "metrics")
}

func TestEachAlertIsTestedBothWaysAndExplained(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(folder, "alerts_test.yml"))
	require.NoError(t, err)
	var tests struct {
		Tests []struct {
			Rules []struct {
				Alert string `yaml:"alertname"`
				Want  []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &tests))
	fires, rests := map[string]bool{}, map[string]bool{}
	for _, each := range tests.Tests {
		for _, r := range each.Rules {
			if len(r.Want) > 0 {
				fires[r.Alert] = true
			} else {
				rests[r.Alert] = true
			}
		}
	}
	page, err := os.ReadFile(folder + ".md")
	require.NoError(t, err)
	for _, r := range readRules(t).alerts() {
		require.True(t, fires[r.Alert], "no test in which %s fires", r.Alert)
		require.True(t, rests[r.Alert], "no test in which %s does not fire", r.Alert)
		require.Contains(t, string(page), "\n### "+r.Alert+"\n")
	}
	require.Len(t, regexp.MustCompile(`(?m)^### Understudy`).FindAll(page, -1), len(readRules(t).alerts()), "the page explains an alert that does not exist")
}

func TestRulesAndDashboardUseMetricsThatExist(t *testing.T) {
	known := map[string]bool{}
	for _, f := range telemetry.Gather(start(t).Nodes[0].System) {
		known[f.Name] = true
		if f.Type == telemetry.Histogram {
			known[f.Name+"_bucket"], known[f.Name+"_sum"], known[f.Name+"_count"] = true, true, true
		}
	}
	var expressions []string
	for _, r := range readRules(t).alerts() {
		expressions = append(expressions, r.Expr)
	}
	expressions = append(expressions, dashboard(t)...)
	names := regexp.MustCompile(`understudy_\w+`)
	for _, e := range expressions {
		used := names.FindAllString(e, -1)
		require.NotEmpty(t, used, e)
		for _, name := range used {
			require.True(t, known[name], "%s in %s", name, e)
		}
	}
}

func TestSeriesThatAlertsSelectByLabelExistFromTheStart(t *testing.T) {
	scraped := scrape(t, prometheus.Handler(start(t).Nodes[0].System))
	selector := regexp.MustCompile(`(understudy_\w+)\{(\w+="[^"]*")\}`)
	found := 0
	for _, r := range readRules(t).alerts() {
		for _, s := range selector.FindAllStringSubmatch(r.Expr, -1) {
			found++
			require.Regexp(t, `(?m)^`+s[1]+`\{([^}]*,)?`+s[2]+`[,}]`, scraped, "an increase from no series is not seen: %s", r.Expr)
		}
	}
	require.Positive(t, found)
}

// dashboard returns the queries of the dashboard.
func dashboard(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "dashboard.json"))
	require.NoError(t, err)
	var d struct {
		Panels []struct {
			ID          int
			Type, Title string
			Targets     []struct{ Expr string }
			GridPos     struct{ X, Y, W, H int }
			Datasource  map[string]string
			Description string
			FieldConfig any
			Options     any
			Collapsed   bool
			Panels      []any
		}
	}
	require.NoError(t, json.Unmarshal(text, &d))
	var ids []int
	for _, p := range d.Panels {
		require.NotContains(t, ids, p.ID)
		ids = append(ids, p.ID)
		require.NotEmpty(t, p.Title)
		require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, "the width of a page of Grafana: %s", p.Title)
		if p.Type != "row" {
			require.NotEmpty(t, p.Targets, p.Title)
		}
		for _, target := range p.Targets {
			all = append(all, target.Expr)
		}
	}
	return all
}

func TestTheQueriesOfTheDashboardAreValid(t *testing.T) {
	var file rules
	file.Groups = append(file.Groups, struct {
		Name  string
		Rules []rule
	}{Name: "dashboard"})
	variables := strings.NewReplacer("$__rate_interval", "1m", "$job", "shop")
	for i, e := range dashboard(t) {
		file.Groups[0].Rules = append(file.Groups[0].Rules, rule{Alert: "query" + strings.Repeat("I", i), Expr: variables.Replace(e)})
	}
	text, err := yaml.Marshal(file)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "queries.yml")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	promtool(t, "", "check", "rules", path)
}
