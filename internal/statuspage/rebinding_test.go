package statuspage

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// at asks for a path on a server with this address, as host.
func at(address net.Addr, method, path, host string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, address))
	r.Host = host
	r.Header.Set(ActionHeader, "1")
	r.Header.Set("Origin", "http://"+host)
	w := httptest.NewRecorder()
	actions := &Actions{Authorize: func(*http.Request) error { return nil }, Leave: func() {}}
	New(newFake(), Options{Actions: actions}).ServeHTTP(w, r)
	return w
}

func TestAPageOfAnotherSiteCannotReadALoopbackAddressUnderItsOwnName(t *testing.T) {
	own, err := os.Hostname()
	require.NoError(t, err)
	for _, ip := range []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(127, 0, 1, 1), net.IPv6loopback} {
		address := &net.TCPAddr{IP: ip, Port: 8080}
		for _, host := range []string{"evil.example:8080", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:8080", "localhost-evil"} {
			for _, path := range []string{"/", "/status", "/events", "/metrics", "/entity"} {
				w := at(address, http.MethodGet, path, host)
				require.Equal(t, http.StatusForbidden, w.Code, "%s %s", host, path)
				require.Contains(t, w.Body.String(), "as localhost or with an IP address")
			}
			require.Equal(t, http.StatusForbidden, at(address, http.MethodPost, "/actions/leave", host).Code, host)
			require.Equal(t, http.StatusOK, at(address, http.MethodGet, "/readyz", host).Code, "a probe tells nothing")
		}
		for _, host := range []string{"localhost:8080", "LocalHost.", "n1.localhost:8080", "127.0.0.1:8080", "[::1]:8080", "[::1]", "10.0.0.7", own + ":8080", ""} {
			require.Equal(t, http.StatusOK, at(address, http.MethodGet, "/status", host).Code, host)
			require.Equal(t, http.StatusAccepted, at(address, http.MethodPost, "/actions/leave", host).Code, host)
		}
	}
}

func TestOtherAddressesHaveAnyName(t *testing.T) {
	for _, address := range []net.Addr{
		&net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 8080}, // Prometheus and others name the service
		&net.UnixAddr{Net: "unix", Name: "/run/shop"},       // no browser connects to it
	} {
		require.Equal(t, http.StatusOK, at(address, http.MethodGet, "/status", "shop.default.svc:8080").Code, address)
	}
}

func TestAServerOnALoopbackAddressRefusesOtherNames(t *testing.T) {
	server := httptest.NewServer(New(newFake(), Options{}))
	defer server.Close()
	for host, want := range map[string]int{"": http.StatusOK, "localhost": http.StatusOK, "evil.example": http.StatusForbidden} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/status", nil)
		require.NoError(t, err)
		r.Host = host
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, want, answer.StatusCode, host)
	}
}
