package testkit

import (
	"reflect"
	"sync"
	"testing"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

// WithoutEncoding leaves messages within a system as they are told. Without it, a system of
// [NewSystem] carries them as between nodes, see [extension.WithEncoding]. It is for tests of
// actors whose messages never leave their node, such as those that have channels or
// functions inside.
func WithoutEncoding() actor.Option { return extension.WithEncoding(nil) }

// WithEncoding has a system carry messages as between nodes, and fails the test for each
// type of messages that does not get through. [NewSystem] has it already; it is for systems
// that are made in another way, such as those of nodes, by cluster.Config.SystemOptions.
// Until the test has ended the system must have been shut down.
func WithEncoding(t testing.TB) actor.Option {
	r := &encodingReport{t: t, reported: make(map[reflect.Type]bool)}
	t.Cleanup(r.close)
	return extension.WithEncoding(r.failed)
}

// An encodingReport tells a test what could not be encoded, once for each type.
type encodingReport struct {
	t testing.TB

	mu       sync.Mutex // guards all below
	reported map[reflect.Type]bool
	closed   bool // the test is over
}

func (r *encodingReport) failed(recipient string, msg any, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.reported[reflect.TypeOf(msg)] {
		return
	}
	r.reported[reflect.TypeOf(msg)] = true
	r.t.Errorf("testkit: a message to %s does not get through to another node, and so not in this test: %v"+
		" (if %T never leaves its node, use testkit.WithoutEncoding, or give it a method LocalOnly() bool)", recipient, err, msg)
}

func (r *encodingReport) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}
