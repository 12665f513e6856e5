package outside

import (
	"net/http"
	"strconv"
)

// A Transport puts the [Caller] of the context of each request into its headers, for an
// http.Client that steps use. A header that is set already stays. Requests that only read, and
// those whose context belongs to no step, are sent as they are.
type Transport struct {
	Base http.RoundTripper // http.DefaultTransport if nil
}

// RoundTrip implements http.RoundTripper.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	c := CallerOf(r.Context())
	if c == (Caller{}) || reads(r.Method) {
		return base.RoundTrip(r)
	}
	r = r.Clone(r.Context())
	set := func(name, value string) {
		if value != "" && r.Header.Get(name) == "" {
			r.Header.Set(name, value)
		}
	}
	set(KeyHeader, escaped(c.Key))
	if c.Scope != "" {
		set(ScopeHeader, escaped(c.Scope))
		set(TokenHeader, strconv.FormatUint(c.Token, 10))
	}
	return base.RoundTrip(r)
}

// reads reports whether requests with a method change nothing, so that they may be repeated.
func reads(method string) bool {
	switch method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}
