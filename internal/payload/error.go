package payload

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/guard"
)

var errorNames struct {
	mu     sync.RWMutex // guards byName, which is replaced, never changed
	byName map[string]error
}

// RegisterError gives sentinel the stable name under which it crosses the wire. actor.RegisterError
// documents its contract, including its panics.
func RegisterError(name string, sentinel error) {
	if name == "" || sentinel == nil {
		panic(fmt.Sprintf("actor: RegisterError(%q, %v) needs a name and an error", name, sentinel))
	}
	if !reflect.TypeOf(sentinel).Comparable() {
		panic(fmt.Sprintf("actor: error %q of type %T cannot be compared; register its type with RegisterType", name, sentinel))
	}
	errorNames.mu.Lock()
	defer errorNames.mu.Unlock()
	for known, err := range errorNames.byName {
		switch {
		case known == name && err == sentinel: //nolint:errorlint // it is the identity that counts
			return
		case known == name:
			panic(fmt.Sprintf("actor: name %q is taken by the error %q, cannot give it to %q", name, err, sentinel))
		case err == sentinel: //nolint:errorlint // it is the identity that counts
			panic(fmt.Sprintf("actor: error %q is registered as %q already, cannot be %q as well", sentinel, known, name))
		}
	}
	all := maps.Clone(errorNames.byName)
	if all == nil {
		all = make(map[string]error)
	}
	all[name] = sentinel
	errorNames.byName = all
}

// ErrorNames returns the names under which errors are registered, sorted.
func ErrorNames() []string { return slices.Sorted(maps.Keys(registeredErrors())) }

func registeredErrors() map[string]error {
	errorNames.mu.RLock()
	defer errorNames.mu.RUnlock()
	return errorNames.byName
}

// An Error is an encoded error: its text, and the registered errors that it wraps. The zero
// Error is the nil error.
type Error struct {
	_      struct{} `cbor:",toarray"`
	Failed bool
	Text   string
	Is     []string  // names of RegisterError, sorted
	As     []Payload // errors in its tree of types that RegisterType has named, outermost first
}

// PackError encodes err. It never fails: parts that cannot be encoded are omitted, and the text
// remains. If a method of err panics, the text describes the panic.
func PackError(err error) (p Error) {
	if err == nil {
		return Error{}
	}
	panicked := guard.Do(func() { p = packError(err) })
	if panicked != nil {
		text := fmt.Sprintf("an error of type %T that cannot be told: %v", err, panicked)
		return Error{Failed: true, Text: strings.ToValidUTF8(text, "\uFFFD")}
	}
	return p
}

func packError(err error) Error {
	p := Error{Failed: true, Text: strings.ToValidUTF8(err.Error(), "\uFFFD")}
	for name, sentinel := range registeredErrors() {
		if errors.Is(err, sentinel) {
			p.Is = append(p.Is, name)
		}
	}
	slices.Sort(p.Is)
	p.As = packTyped(err, nil)
	return p
}

const maxTyped = 16

func packTyped(err error, all []Payload) []Payload {
	if err == nil || len(all) == maxTyped {
		return all
	}
	if _, named := codec.NameOf(reflect.TypeOf(err)); named {
		if p, failed := Pack(err); failed == nil {
			all = append(all, p)
		}
	}
	switch e := err.(type) { //nolint:errorlint // this walks the tree itself
	case *remoteError: // which another node has made of a tree
		for _, cause := range e.causes {
			all = packTyped(cause, all)
		}
	case interface{ Unwrap() error }:
		return packTyped(e.Unwrap(), all)
	case interface{ Unwrap() []error }:
		for _, cause := range e.Unwrap() {
			all = packTyped(cause, all)
		}
	}
	return all
}

// UnpackError decodes p: nil for the zero Error, otherwise an error with the same text, in which
// errors.Is and errors.As find the errors that are registered on this node too.
func UnpackError(p Error, to Binder) error {
	if !p.Failed {
		return nil
	}
	e := &remoteError{text: p.Text}
	known := registeredErrors()
	for _, name := range p.Is {
		if sentinel := known[name]; sentinel != nil {
			e.causes = append(e.causes, sentinel)
		}
	}
	for _, typed := range p.As[:min(len(p.As), maxTyped)] {
		v, err := Unpack(typed, to)
		if cause, ok := v.(error); ok && err == nil {
			e.causes = append(e.causes, cause)
		}
	}
	return e
}

type remoteError struct {
	text   string
	causes []error
}

func (e *remoteError) Error() string { return e.text }

func (e *remoteError) Unwrap() []error { return e.causes }
