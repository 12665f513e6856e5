package kubernetes

import (
	"fmt"
	"net/http"
	"os"
	"strings"
)

// withToken returns what makes a transport send the token in that file. The file is read
// for each request: the kubelet replaces it long before the token expires, but whoever
// revokes a token does not wait until a cache is stale.
func withToken(file string) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return &tokenTransport{file: file, next: next}
	}
}

type tokenTransport struct {
	file string
	next http.RoundTripper
}

func (t *tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := readToken(t.file)
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // as a RoundTripper must, and there is nothing to be done about its error
		}
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return t.next.RoundTrip(r)
}

func readToken(file string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(content))
	if token == "" {
		return "", fmt.Errorf("read the token: %s is empty", file)
	}
	return token, nil
}
