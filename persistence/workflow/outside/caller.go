package outside

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/understudy-go/understudy/persistence/internal/fence"
	"github.com/understudy-go/understudy/persistence/workflow"
)

var (
	// ErrReplaced: the caller has a lower token than another one before it, because another
	// process has taken its run over. Nothing was done for it.
	ErrReplaced = fence.ErrReplaced
	// ErrKeyUsed: the key belongs to another request. If a step makes several calls, give each
	// but the first a key of its own, such as workflow.Key(ctx)+"#2" in the header [KeyHeader].
	ErrKeyUsed = errors.New("outside: the idempotency key was used for another request")
	// ErrNoStep: the context belongs neither to a step nor to a request with the headers of one.
	ErrNoStep = errors.New("outside: the context belongs to no step")
	// ErrOtherRun: the object was written by another run, whose token says nothing about this
	// one. Give each run objects of its own.
	ErrOtherRun = errors.New("outside: the object belongs to another run")
	// ErrChanged: the object has another version than the one that was to be replaced. [Objects]
	// return it, and [Update] reads the object again.
	ErrChanged = errors.New("outside: the object has changed meanwhile")
)

// A Caller says which step makes a call, and in which incarnation of its run.
type Caller struct {
	Key   string // the same in all attempts of the step, see [workflow.Key]
	Scope string // of the token, see [workflow.Scope]
	Token uint64 // at least 1 if there is a Scope, see [workflow.Token]
}

type callerKey struct{}

// CallerOf returns the caller of the step, or of the request behind a [Handler], to which ctx
// belongs. It is the zero Caller elsewhere.
func CallerOf(ctx context.Context) Caller {
	if c, ok := ctx.Value(callerKey{}).(Caller); ok {
		return c
	}
	return Caller{workflow.Key(ctx), workflow.Scope(ctx), workflow.Token(ctx)}
}

// The headers of a call. Bytes of a key or scope that are no visible ASCII, quotes and percent
// signs are written as in URLs, for example %20 for a space.
const (
	KeyHeader   = "Idempotency-Key"
	ScopeHeader = "Fencing-Scope"
	TokenHeader = "Fencing-Token"
)

// callerIn returns the caller in the headers of a request.
func callerIn(h http.Header) (c Caller, err error) {
	if c.Key, err = valueOf(h, KeyHeader); err != nil {
		return c, err
	}
	if c.Scope, err = valueOf(h, ScopeHeader); err != nil {
		return c, err
	}
	token, err := valueOf(h, TokenHeader)
	if err != nil {
		return c, err
	}
	if (token == "") != (c.Scope == "") {
		return c, fmt.Errorf("%s and %s are only together of use", ScopeHeader, TokenHeader)
	}
	if token == "" {
		return c, nil
	}
	c.Token, err = strconv.ParseUint(token, 10, 63)
	if err != nil || c.Token == 0 {
		return c, fmt.Errorf("%s is %q, and not a number from 1 to 2^63-1", TokenHeader, token)
	}
	return c, nil
}

// valueOf returns what a header says, without the quotes that the standard of keys has. A key of
// others may have percent signs that are no escapes.
func valueOf(h http.Header, name string) (string, error) {
	all := h.Values(name)
	if len(all) == 0 {
		return "", nil
	}
	value := strings.Trim(all[0], `"`)
	if plain, err := url.PathUnescape(value); err == nil {
		value = plain
	}
	if len(all) > 1 || !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl) {
		return "", fmt.Errorf("the header %s is %q; it must be there once, as UTF-8 without control characters", name, all)
	}
	return value, nil
}

// escaped returns s as it is in a header.
func escaped(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '%' || c == '"' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
