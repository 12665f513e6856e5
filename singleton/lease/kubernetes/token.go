package kubernetes

import (
	"fmt"
	"net/http"
	"os"
	"strings"
)

// withToken wraps a transport so that it sends the token in that file. It reads the file for each
// request: the kubelet replaces the token long before it expires, but a token that is revoked early
// ends at once.
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
			_ = r.Body.Close() // required of a RoundTripper; its error does not matter
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
