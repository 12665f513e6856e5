//go:build kubeapi

package kubernetes

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	typedv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/understudy-go/understudy/internal/process"
)

// A cluster is a real API server, which internal/lab/kubeapi starts.
type cluster struct {
	Server, CA, Admin, Pod string

	program, dir string
	process      *process.Process
}

// startCluster returns one that make test-kubernetes has built.
func startCluster(t *testing.T) *cluster {
	program := os.Getenv("UNDERSTUDY_KUBEAPI")
	require.NotEmpty(t, program, "run make test-kubernetes")
	c := &cluster{program: program, dir: t.TempDir()}
	t.Cleanup(func() {
		if c.process != nil {
			c.kill(t)
		}
	})
	c.start(t, "0")
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(c.dir + "/log")
			t.Logf("the end of the server's log:\n%s", log[max(0, len(log)-4000):])
		}
	})
	answer, body := c.asker(t, c.Admin).ask("POST", "/api/v1/namespaces", `{"metadata":{"name":"demo"}}`)
	require.Equal(t, http.StatusCreated, answer, body)
	return c
}

func (c *cluster) start(t *testing.T, port string) {
	log, err := os.OpenFile(c.dir+"/log", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	require.NoError(t, err)
	defer log.Close()
	cmd := exec.Command(c.program, "-dir", c.dir, "-port", port)
	cmd.Stderr = log
	started, err := process.Start(cmd)
	require.NoError(t, err)
	c.process = started
	lines := make(chan string, 1)
	go func() {
		line, _ := started.Line()
		lines <- line
	}()
	select {
	case line := <-lines:
		require.NoError(t, json.Unmarshal([]byte(line), c), "the server has ended; its log is in %s", c.dir)
	case <-time.After(3 * time.Minute):
		t.Fatal("the server is not ready after three minutes")
	}
}

// kill ends the server as a power cut does.
func (c *cluster) kill(t *testing.T) {
	c.process.Kill()
	c.process = nil
}

func (c *cluster) restart(t *testing.T) {
	server, err := url.Parse(c.Server)
	require.NoError(t, err)
	c.start(t, server.Port())
}

func (c *cluster) connect(t *testing.T, tokenFile string) *Store {
	s, err := Connect(Config{Server: c.Server, CAFile: c.CA, TokenFile: tokenFile, Namespace: namespace})
	require.NoError(t, err)
	return s
}

// client is client-go's with its defaults, which are not those of Connect.
func (c *cluster) client(t *testing.T) typedv1.CoordinationV1Interface {
	client, err := typedv1.NewForConfig(&rest.Config{
		Host: c.Server, BearerTokenFile: c.Admin, TLSClientConfig: rest.TLSClientConfig{CAFile: c.CA},
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeProtobuf},
	})
	require.NoError(t, err)
	return client
}

func (c *cluster) asker(t *testing.T, tokenFile string) asker {
	ca, err := os.ReadFile(c.CA)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(ca))
	token, err := readToken(tokenFile)
	require.NoError(t, err)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	t.Cleanup(transport.CloseIdleConnections)
	return asker{t: t, base: c.Server, token: token, transport: transport}
}
