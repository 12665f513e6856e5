package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/remote"
)

// Regression: a web server as a seed gave "no answer" until the context ended, because net/http
// answers only after a complete line. With TLS, it closed the connection without an error, or the
// error was that its secret is not in the keyring of this node.
func TestAWebServerIsNoNodeAndIsNamedAtOnce(t *testing.T) {
	const http, tls = "it speaks HTTP; give the address of a node", "it speaks TLS, and is no node; give the address of a node"
	for server, want := range map[string]string{"HTTP": http, "HTTPS": tls, "HTTP/2 by TLS": tls, "TLS 1.2": tls, "TLS without ALPN": tls} {
		for _, identity := range []string{"no TLS", "a secret", "certificates"} {
			t.Run(server+" to "+identity, func(t *testing.T) {
				t.Parallel()
				address := webServer(t, server)
				cfg := identified(identity)
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()

				_, err := Start(ctx, Config{Seeds: []string{address, "127.0.0.1:1"}, Secret: cfg.Secret, TLS: cfg.TLS, Logger: zap.NewNop()})
				var refusal *RefusedError
				require.ErrorAs(t, err, &refusal)
				require.Equal(t, address, refusal.Address)
				require.ErrorContains(t, err, "is no node of Understudy: "+want)
				require.NotContains(t, err.Error(), "authenticated")

				cfg.Contacts, cfg.Logger = []string{address}, zap.NewNop()
				_, err = Dial(ctx, cfg)
				require.ErrorIs(t, err, remote.ErrForeign)
				require.ErrorContains(t, err, address)
				require.ErrorContains(t, err, want)
				require.NotErrorIs(t, err, context.DeadlineExceeded)
			})
		}
	}
}

func webServer(t *testing.T, kind string) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("a request: %v", r) }))
	s.Config.ErrorLog = zap.NewStdLog(zap.NewNop())
	switch kind {
	case "HTTP":
		s.Start()
	case "HTTP/2 by TLS":
		s.EnableHTTP2 = true
		s.StartTLS()
	case "TLS 1.2":
		s.TLS = &tls.Config{MaxVersion: tls.VersionTLS12}
		s.StartTLS()
	case "TLS without ALPN":
		s.StartTLS()
		certificate := s.TLS.Certificates[0]
		s.Close()
		return plainTLS(t, certificate)
	default:
		s.StartTLS()
	}
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// plainTLS starts a server that accepts any TLS handshake and then only reads.
func plainTLS(t *testing.T, certificate tls.Certificate) string {
	t.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}})
	require.NoError(t, err)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				_, _ = io.Copy(io.Discard, conn)
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() {
		require.NoError(t, listener.Close())
		serving.Wait()
	})
	return listener.Addr().String()
}

// identified returns a configuration with one of the possible identities of a node.
func identified(identity string) (c ClientConfig) {
	switch identity {
	case "a secret":
		c.Secret = []byte("0123456789abcdef0123456789abcdef")
	case "certificates":
		server := httptest.NewUnstartedServer(nil)
		server.StartTLS()
		defer server.Close()
		c.TLS = &tls.Config{Certificates: server.TLS.Certificates, RootCAs: x509.NewCertPool(), ClientCAs: x509.NewCertPool()}
	}
	return c
}

// A server that sends nothing, or closes the connection at once, may be a node that starts or ends.
func TestASeedThatSaysNothingIsTriedAgain(t *testing.T) {
	for name, serve := range map[string]func(conn net.Conn){
		"no answer": func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) },
		"closed without an answer, as what is no node does": func(conn net.Conn) {
			_, _ = conn.Read(make([]byte, 1<<10))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := memnet.New(1)
				var serving sync.WaitGroup
				listener, err := network.Host("n1").Listen("n1:7355")
				require.NoError(t, err)
				serving.Go(func() {
					for {
						conn, err := listener.Accept()
						if err != nil {
							return
						}
						serving.Go(func() { serve(conn); _ = conn.Close() })
					}
				})
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err = Start(ctx, Config{Bind: "n2:7355", Seeds: []string{"n1:7355"}, Network: network.Host("n2"), Logger: zap.NewNop()})
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.ErrorContains(t, err, name)

				fresh, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err = Dial(fresh, ClientConfig{Contacts: []string{"n1:7355"}, Network: network.Host("n2"), Logger: zap.NewNop()})
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.ErrorContains(t, err, name)
				require.NoError(t, listener.Close())
				network.Close()
				serving.Wait()
				time.Sleep(15 * time.Second) // until the last goroutines of memberlist end
			})
		})
	}
}
