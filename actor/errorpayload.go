package actor

import (
	"context"
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

// errorNames are the errors that [RegisterError] has named.
var errorNames struct {
	mu     sync.RWMutex // guards byName, which is replaced, never changed
	byName map[string]error
}

// RegisterError gives sentinel the stable name under which it crosses the wire: on every
// node that has registered the same name, errors.Is(err, sentinel) is as true of an error
// that has come from another node as it was there. Call it from an init function, with a
// name that never changes. The errors of this package, context.Canceled and
// context.DeadlineExceeded have names already.
//
// It is for errors that are compared. An error type with fields, which is for errors.As,
// crosses when it is registered by [RegisterType].
//
// It panics when the name or the error is empty, and when the name belongs to another
// error, or the error has another name.
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

func registeredErrors() map[string]error {
	errorNames.mu.RLock()
	defer errorNames.mu.RUnlock()
	return errorNames.byName
}

func init() {
	for name, err := range map[string]error{
		"context.canceled": context.Canceled, "context.deadline-exceeded": context.DeadlineExceeded,
		"understudy/actor.terminated": ErrTerminated, "understudy/actor.no-such-actor": ErrNoSuchActor,
		"understudy/actor.stale-ref": ErrStaleRef, "understudy/actor.no-ref": ErrNoRef, "understudy/actor.wrong-type": ErrWrongType,
		"understudy/actor.mailbox-full": ErrMailboxFull, "understudy/actor.stash-full": ErrStashFull,
		"understudy/actor.stale-handler": ErrStaleHandler, "understudy/actor.late-reply": ErrLateReply,
		"understudy/actor.unreachable": ErrUnreachable, "understudy/actor.not-serializable": ErrNotSerializable,
		"understudy/actor.not-decodable": ErrNotDecodable, "understudy/actor.dropped": ErrDropped,
		"understudy/actor.withdrawn":  ErrWithdrawn,
		"understudy/actor.death-pact": ErrDeathPact, "understudy/actor.escalated": ErrEscalated,
	} {
		RegisterError(name, err)
	}
}

// An ErrorPayload is an encoded error: its text, and of what it wraps that which is
// registered. The zero value is the nil error.
type ErrorPayload struct {
	_      struct{} `cbor:",toarray"`
	Failed bool
	Text   string
	Is     []string  // names of [RegisterError], sorted
	As     []Payload // errors in its tree of types that [RegisterType] has named, outermost first
}

// PackError encodes err. It never fails: what cannot be encoded is left out, and the text
// stays. A panic in a method of err becomes the text.
func PackError(err error) (p ErrorPayload) {
	if err == nil {
		return ErrorPayload{}
	}
	panicked := guard.Do(func() { p = packError(err) })
	if panicked != nil {
		text := fmt.Sprintf("an error of type %T that cannot be told: %v", err, panicked)
		return ErrorPayload{Failed: true, Text: strings.ToValidUTF8(text, "\uFFFD")}
	}
	return p
}

func packError(err error) ErrorPayload {
	p := ErrorPayload{Failed: true, Text: strings.ToValidUTF8(err.Error(), "\uFFFD")}
	for name, sentinel := range registeredErrors() {
		if errors.Is(err, sentinel) {
			p.Is = append(p.Is, name)
		}
	}
	slices.Sort(p.Is)
	p.As = packTyped(err, nil)
	return p
}

// maxTyped is how many errors with fields one error may carry.
const maxTyped = 16

// packTyped appends those of the tree of err whose type is registered.
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

// Unpack returns the error: nil for the zero value, else one with the text, of which
// errors.Is and errors.As find what is registered on this node too. Refs inside belong to
// s, which may be nil when there are none.
func (p ErrorPayload) Unpack(s *System) error {
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
		v, err := typed.Unpack(s)
		if cause, ok := v.(error); ok && err == nil {
			e.causes = append(e.causes, cause)
		}
	}
	return e
}

// A remoteError is an error of another node.
type remoteError struct {
	text   string
	causes []error
}

// Error returns the text that the error had there.
func (e *remoteError) Error() string { return e.text }

// Unwrap returns what is registered of the errors that it wrapped there.
func (e *remoteError) Unwrap() []error { return e.causes }
