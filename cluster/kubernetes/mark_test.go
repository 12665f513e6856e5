package kubernetes

import (
	"encoding/json"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A server is a model of the part of an API server that changes the annotations of pods.
type server struct {
	mu      sync.Mutex // guards all below
	token   string
	refusal int               // the status of every answer, if not 0
	costs   map[string]string // by the path of the pod
	asked   int
}

func newServer() *server { return &server{token: "secret", costs: map[string]string{}} }

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	var patch struct {
		Metadata struct{ Annotations map[string]string }
	}
	switch err := json.NewDecoder(r.Body).Decode(&patch); {
	case r.Header.Get("Authorization") != "Bearer "+s.token:
		http.Error(w, "Unauthorized", http.StatusUnauthorized)
	case s.refusal != 0:
		http.Error(w, "refused", s.refusal)
	case r.Method != http.MethodPatch, r.Header.Get("Content-Type") != "application/merge-patch+json":
		http.Error(w, "not a merge patch", http.StatusUnsupportedMediaType)
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	default:
		s.costs[r.URL.Path] = patch.Metadata.Annotations["controller.kubernetes.io/pod-deletion-cost"]
	}
}

// answer makes s refuse everything with that status, or nothing for 0, and require that token.
func (s *server) answer(status int, token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusal, s.token = status, token
}

// known returns the costs, by the names of the pods, and how many requests there were.
func (s *server) known() (costs map[string]string, asked int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	costs = map[string]string{}
	for path, cost := range s.costs {
		costs[filepath.Base(path)] = cost
	}
	return costs, s.asked
}

// inProcess carries requests to s without a network, so that a bubble waits for its clock only.
type inProcess struct{ s *server }

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	p.s.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}

func (s *server) patcher(t *testing.T, pod string) patcher {
	t.Helper()
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte("secret\n"), 0o600))
	return patcher{client: &http.Client{Transport: inProcess{s}}, url: "https://api.invalid" + pathOf("shop", pod), token: token}
}

func idle() actor.Behavior[string] {
	return behaviors.Receive(func(*actor.Context[string], string) actor.Behavior[string] {
		return behaviors.Same
	})
}

func TestEachPodHasTheNumberOfItsSingletonsAsItsCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := newServer(), clustertest.Start(t, 4)
		for _, n := range c.Nodes() {
			for _, name := range []string{"orders", "invoices"} {
				actor.Spawn(n, behaviors.Singleton(idle), name)
			}
		}
		c.AwaitQuiet()
		for _, n := range c.Nodes() {
			mark(n, s.patcher(t, n.View().Self.Name))
		}
		requireCosts := func(wait time.Duration, want map[string]string, requests int) {
			t.Helper()
			time.Sleep(wait)
			got, asked := s.known()
			require.Equal(t, want, got)
			require.Equal(t, requests, asked)
		}
		requireCosts(time.Second, map[string]string{"n1": "2", "n2": "0", "n3": "0", "n4": "0"}, 4)
		requireCosts(95*time.Second, map[string]string{"n1": "2", "n2": "0", "n3": "0", "n4": "0"}, 4)
		c.Leave("n1")
		requireCosts(31*time.Second, map[string]string{"n1": "2", "n2": "2", "n3": "0", "n4": "0"}, 5)
		c.Crash("n2")
		requireCosts(time.Minute, map[string]string{"n1": "2", "n2": "2", "n3": "2", "n4": "0"}, 6)
	})
}

func TestAFailureIsLoggedOnceAndTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, lines := observer.New(zap.WarnLevel)
		s := newServer()
		c := clustertest.Start(t, 1, func(_ string, cfg *cluster.Config) { cfg.Logger = zap.New(log) })
		p := s.patcher(t, "n1")
		s.answer(http.StatusForbidden, "secret")
		mark(c.Node("n1"), p)
		time.Sleep(5 * time.Minute)
		failures := lines.FilterMessage("cannot write the deletion cost of this pod").All()
		require.Len(t, failures, 1)
		require.Equal(t, "403 Forbidden: refused\n", failures[0].ContextMap()["error"])

		s.answer(0, "rotated")
		require.NoError(t, os.WriteFile(p.token, []byte("rotated"), 0o600))
		time.Sleep(period + time.Second)
		costs, _ := s.known()
		require.Equal(t, map[string]string{"n1": "0"}, costs)
	})
}

// A service account's directory, and the environment, are as a pod has them. TCP and TLS are real.
func TestAPodWritesWithTheCredentialsOfItsServiceAccount(t *testing.T) {
	s, dir := newServer(), t.TempDir()
	tls := httptest.NewTLSServer(s)
	defer tls.Close()
	address, err := url.Parse(tls.URL)
	require.NoError(t, err)
	host, port, err := net.SplitHostPort(address.Host)
	require.NoError(t, err)
	environment := map[string]string{"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
	getenv := func(name string) string { return environment[name] }
	files := map[string][]byte{
		"namespace": []byte("shop\n"), "token": []byte("secret\n"),
		"ca.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: tls.Certificate().Raw}),
	}
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}

	p, err := inCluster(getenv, dir, "shop-1")
	require.NoError(t, err)
	require.NoError(t, p.patch(t.Context(), 7))
	require.Equal(t, map[string]string{"/api/v1/namespaces/shop/pods/shop-1": "7"}, s.costs)

	_, err = inCluster(getenv, dir, "")
	require.ErrorContains(t, err, "metadata.name")
	_, err = inCluster(getenv, t.TempDir(), "shop-1")
	require.ErrorContains(t, err, "automountServiceAccountToken")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ca.crt"), []byte("no certificate"), 0o600))
	_, err = inCluster(getenv, dir, "shop-1")
	require.ErrorContains(t, err, "has no certificate")
	if os.Getenv("KUBERNETES_SERVICE_HOST") == "" {
		require.ErrorContains(t, MarkPod(nil, "shop-1"), "not in a pod")
	}
}
