package workflow_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

func TestOperatorsSeeAndSteerRunsByThePageOfANode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := clustertest.Start(t, 1).Node("n1")
		fixed := false
		jobs, err := workflow.Start(node, "job", func(w *workflow.Run, n int) (string, error) {
			if n == 3 && !fixed {
				panic("wrong program")
			}
			if err := workflow.Do(w, "call", func(context.Context) error {
				if !fixed {
					return errDeclined
				}
				return nil
			}, workflow.Retry(0, actor.Backoff{Min: 2 * time.Second})); err != nil {
				return "", err
			}
			return "done", workflow.Sleep(w, time.Hour)
		})
		require.NoError(t, err)
		for i, id := range []string{"a", "b", "c"} {
			_, err := jobs.Run(t.Context(), id, i+1, workflow.Tag("eu"))
			require.NoError(t, err)
		}
		pass(time.Second)
		page := node.Handler(cluster.AllowActions(func(*http.Request) error { return nil }))
		ask := func(method, path string, into any) (code int, body string) {
			r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
			r.Header.Set("Understudy-Action", "1")
			w := httptest.NewRecorder()
			page.ServeHTTP(w, r)
			if into != nil {
				require.Equal(t, http.StatusOK, w.Code, w.Body)
				require.NoError(t, json.Unmarshal(w.Body.Bytes(), into))
			}
			return w.Code, w.Body.String()
		}

		var run struct {
			ID, Tag, State, Error string
			Steps                 []struct {
				Name, Doing, Error string
				Attempt            int
			}
		}
		ask("GET", "/runs?type=job&id=a", &run)
		require.Equal(t, "waiting", run.State)
		require.Equal(t, "eu", run.Tag)
		require.Equal(t, "call", run.Steps[0].Name)
		require.Equal(t, "retrying", run.Steps[0].Doing)
		require.Equal(t, "declined", run.Steps[0].Error)
		ask("GET", "/runs?type=job&id=c", &run)
		require.Equal(t, "held", run.State)
		require.Contains(t, run.Error, "wrong program")

		var details struct {
			Workflows []struct {
				Name   string
				Counts map[string]int
				Runs   []struct{ ID, State string }
			}
		}
		ask("GET", "/details", &details)
		require.Equal(t, 3, details.Workflows[0].Counts["running"])
		require.Equal(t, "c", details.Workflows[0].Runs[0].ID, "held runs come first")

		code, _ := ask("POST", "/actions/run?type=job&id=b&do=cancel&who=ann&why=wrong", nil)
		require.Equal(t, http.StatusAccepted, code)
		fixed = true
		code, _ = ask("POST", "/actions/run?type=job&id=c&do=retry&who=ann", nil)
		require.Equal(t, http.StatusAccepted, code)
		pass(time.Minute)

		var list struct {
			Counts map[string]int
			Runs   []struct{ ID, State, Error string }
			More   int
		}
		ask("GET", "/runs?type=job", &list)
		require.Equal(t, map[string]int{"running": 2, "cancelled": 1}, list.Counts)
		require.Equal(t, "c", list.Runs[0].ID)
		ask("GET", "/runs?type=job&state=cancelled&tag=eu", &list)
		require.Len(t, list.Runs, 1)
		require.Contains(t, list.Runs[0].Error, "by ann: wrong")
		ask("GET", "/runs?type=job&limit=1", &list)
		require.Equal(t, 2, list.More)

		for path, want := range map[string]int{
			"/actions/run?type=job&id=x&do=cancel": http.StatusConflict, "/actions/run?type=job&id=a&do=dance": http.StatusConflict,
			"/actions/run?type=other&id=a&do=cancel": http.StatusConflict, "/actions/run?type=job": http.StatusBadRequest,
		} {
			code, body := ask("POST", path, nil)
			require.Equal(t, want, code, body)
		}
		code, _ = ask("GET", "/runs", nil)
		require.Equal(t, http.StatusBadRequest, code)

		var names strings.Builder
		for _, f := range telemetry.Gather(node.System) {
			names.WriteString(f.Name + " ")
		}
		require.Contains(t, names.String(), "understudy_workflow_runs_total")
	})
}
