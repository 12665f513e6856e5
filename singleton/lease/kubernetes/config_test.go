package kubernetes

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/understudy-go/understudy/singleton/lease"
)

// serve returns how to reach the server over TLS.
func serve(t *testing.T, handler http.Handler) (*httptest.Server, Config) {
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, content, 0o600))
		return file
	}
	write("namespace", []byte(namespace+"\n"))
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return server, Config{
		Server: server.URL, CAFile: write("ca.crt", ca), TokenFile: write("token", []byte("secret\n")), Namespace: namespace,
	}
}

// 232
func TestAConfigIsWholeOrRefused(t *testing.T) {
	_, whole := serve(t, newAPIServer())
	for _, c := range []struct {
		name   string
		damage func(*Config)
		says   string
	}{
		{"only the server", func(c *Config) { *c = Config{Server: c.Server} }, "CAFile is missing"},
		{"no server", func(c *Config) { c.Server = "" }, "Server is missing"},
		{"no certificates", func(c *Config) { c.CAFile = "" }, "CAFile is missing"},
		{"no token", func(c *Config) { c.TokenFile = "" }, "TokenFile is missing"},
		{"no namespace", func(c *Config) { c.Namespace = "" }, "Namespace is missing"},
		{"plain http", func(c *Config) { c.Server = strings.Replace(c.Server, "https:", "http:", 1) }, "https://host:port"},
		{"no scheme", func(c *Config) { c.Server = "localhost" }, "https://host:port"},
		{"a password", func(c *Config) { c.Server = "https://me:secret@host" }, "https://host:port"},
		{"no URL", func(c *Config) { c.Server = "https://[" }, "missing ']'"},
		{"no such token", func(c *Config) { c.TokenFile += "s" }, "no such file"},
		{"no such certificates", func(c *Config) { c.CAFile += "s" }, "no such file"},
		{"a token without text", func(c *Config) { c.TokenFile = os.DevNull }, "is empty"},
		{"certificates without any", func(c *Config) { c.CAFile = c.TokenFile }, "certificate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := whole
			c.damage(&config)
			_, err := Connect(config)
			require.ErrorContains(t, err, c.says)
		})
	}
	s, err := Connect(whole)
	require.NoError(t, err)
	take(t, s, "a")
}

func TestAPodFindsItsServer(t *testing.T) {
	server, config := serve(t, newAPIServer())
	host, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "https://"), ":")
	env := map[string]string{"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
	getenv := func(name string) string { return env[name] }
	s, err := inCluster(getenv, filepath.Dir(config.TokenFile))
	require.NoError(t, err)
	take(t, s, "a")

	_, err = inCluster(getenv, t.TempDir())
	require.ErrorContains(t, err, "automountServiceAccountToken")
	_, err = inCluster(func(string) string { return "" }, filepath.Dir(config.TokenFile))
	require.ErrorIs(t, err, rest.ErrNotInCluster)
}

// 236
func TestATokenThatWasReplacedIsReadAgain(t *testing.T) {
	server := newAPIServer()
	_, config := serve(t, server)
	s, err := Connect(config)
	require.NoError(t, err)
	g := take(t, s, "a")
	server.allow(map[string]string{"rotated": allVerbs})
	_, err = s.Renew(t.Context(), g)
	require.ErrorContains(t, err, "401 Unauthorized")
	require.NotErrorIs(t, err, lease.ErrLost)
	require.NoError(t, os.WriteFile(config.TokenFile, []byte("rotated"), 0o600))
	g, err = s.Renew(t.Context(), g)
	require.NoError(t, err)
	require.NoError(t, os.Remove(config.TokenFile))
	_, err = s.Renew(t.Context(), g)
	require.ErrorContains(t, err, "read the token")
	require.NotErrorIs(t, err, lease.ErrLost)
}

// client-go's own way with token files, for those who call New: an old token is used for
// up to 50 s, also when the server does not know it any more.
func TestClientGoDoesNotReadATokenAgainAtA401(t *testing.T) {
	server := newAPIServer()
	_, config := serve(t, server)
	client, err := newClient(&rest.Config{
		Host: config.Server, BearerTokenFile: config.TokenFile, TLSClientConfig: rest.TLSClientConfig{CAFile: config.CAFile},
		ContentConfig: rest.ContentConfig{ContentType: "application/json"},
	})
	require.NoError(t, err)
	s := New(client, config.Namespace)
	g := take(t, s, "a")
	server.allow(map[string]string{"rotated": allVerbs})
	require.NoError(t, os.WriteFile(config.TokenFile, []byte("rotated"), 0o600))
	_, err = s.Renew(t.Context(), g)
	require.ErrorContains(t, err, "401 Unauthorized")
}

func TestARequestThatIsGivenUpTakesItsConnectionAlong(t *testing.T) {
	server := newAPIServer()
	_, config := serve(t, server)
	s, err := Connect(config)
	require.NoError(t, err)
	g := take(t, s, "a")
	addresses := make(chan string, 2)
	server.fail(func(r *http.Request) fault {
		addresses <- r.RemoteAddr
		return fault{hang: len(addresses) == 1}
	})
	_, err = s.Renew(within(t, 100*time.Millisecond), g)
	require.ErrorContains(t, err, "context deadline exceeded")
	_, err = s.Renew(t.Context(), g)
	require.NoError(t, err)
	first := <-addresses
	require.NotEqual(t, first, <-addresses)
}
