package kubernetes

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
)

func model(t *testing.T) asker {
	return asker{t: t, base: "https://api.invalid", token: "secret", transport: inProcess{newAPIServer()}}
}

// TestTheModelIsAsStrictAsItSays shows without a real server what the model answers.
func TestTheModelIsAsStrictAsItSays(t *testing.T) {
	require.Equal(t, []string{
		"get of nothing: 404",
		"create: 201",
		"create again: 409",
		"create with a version: 500",
		"create elsewhere: 404",
		"create with a capital letter: 422",
		"create for no time: 422",
		"create with a negative count: 422",
		"create with three digits: 400",
		"create with none: 400",
		"update without a version: 422",
		"update of an old version: 409",
		"update of another uid: 409",
		"update: 200",
		"update that changes nothing: 200",
		"update again with the same version: 200",
		"delete of an old version: 409",
		"delete: 200",
		"update of a deleted object: 409",
		"delete again: 404",
		"create by update: 201",
		"another token: 401",
	}, interview(model(t)))
}

// interview asks a server what matters to a lease, and returns the statuses.
func interview(a asker) []string {
	a.t.Helper()
	const all = "/apis/coordination.k8s.io/v1/namespaces/demo/leases"
	const one = all + "/interview"
	var statuses []string
	ask := func(what, method, path, body string) (o coordinationv1.Lease) {
		a.t.Helper()
		status, answer := a.ask(method, path, body)
		statuses = append(statuses, fmt.Sprintf("%s: %d", what, status))
		if status < 300 {
			require.NoError(a.t, json.Unmarshal([]byte(answer), &o))
		}
		return o
	}
	object := func(name, meta, spec string) string {
		return fmt.Sprintf(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":%q%s},"spec":{%s}}`, name, meta, spec)
	}
	version := func(o coordinationv1.Lease) string {
		return fmt.Sprintf(`,"uid":%q,"resourceVersion":%q`, o.UID, o.ResourceVersion)
	}
	const a1, b1 = `"holderIdentity":"a"`, `"holderIdentity":"b"`

	ask("get of nothing", "GET", one, "")
	first := ask("create", "POST", all, object("interview", "", a1))
	ask("create again", "POST", all, object("interview", "", a1))
	ask("create with a version", "POST", all, object("other", `,"resourceVersion":"5"`, a1))
	ask("create elsewhere", "POST", strings.Replace(all, "demo", "nowhere", 1), object("interview", "", a1))
	ask("create with a capital letter", "POST", all, object("Interview", "", a1))
	ask("create for no time", "POST", all, object("other", "", `"leaseDurationSeconds":0`))
	ask("create with a negative count", "POST", all, object("other", "", `"leaseTransitions":-1`))
	ask("create with three digits", "POST", all, object("other", "", `"renewTime":"2026-11-21T20:00:00.123Z"`))
	ask("create with none", "POST", all, object("other", "", `"renewTime":"2026-11-21T20:00:00Z"`))
	ask("update without a version", "PUT", one, object("interview", "", b1))
	ask("update of an old version", "PUT", one, object("interview", `,"resourceVersion":"1"`, b1))
	ask("update of another uid", "PUT", one, object("interview", `,"uid":"x","resourceVersion":"`+first.ResourceVersion+`"`, b1))
	second := ask("update", "PUT", one, object("interview", version(first), b1))
	require.NotEqual(a.t, first.ResourceVersion, second.ResourceVersion)
	same := ask("update that changes nothing", "PUT", one, object("interview", version(second), b1))
	require.Equal(a.t, second.ResourceVersion, same.ResourceVersion)
	ask("update again with the same version", "PUT", one, object("interview", version(second), a1))
	ask("delete of an old version", "DELETE", one, fmt.Sprintf(`{"preconditions":{"resourceVersion":%q}}`, first.ResourceVersion))
	ask("delete", "DELETE", one, "")
	ask("update of a deleted object", "PUT", one, object("interview", version(second), a1))
	ask("delete again", "DELETE", one, "")
	ask("create by update", "PUT", one, object("interview", "", a1))
	a.ask("DELETE", one, "")
	a.token = "unknown"
	ask("another token", "GET", one, "")
	return statuses
}

// An asker sends what no client would.
type asker struct {
	t         *testing.T
	base      string
	token     string
	transport http.RoundTripper
}

func (a asker) ask(method, path, body string) (status int, answer string) {
	a.t.Helper()
	r, err := http.NewRequestWithContext(a.t.Context(), method, a.base+path, strings.NewReader(body))
	require.NoError(a.t, err)
	r.Header.Set("Authorization", "Bearer "+a.token)
	r.Header.Set("Content-Type", "application/json")
	w, err := a.transport.RoundTrip(r)
	require.NoError(a.t, err)
	defer w.Body.Close()
	content, err := io.ReadAll(w.Body)
	require.NoError(a.t, err)
	return w.StatusCode, string(content)
}
