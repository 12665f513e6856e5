package testkit

import (
	"reflect"
	"sync"
	"testing"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

// WithoutEncoding passes messages within a system as they are. By default a system of [NewSystem]
// encodes them as between nodes. Use WithoutEncoding for actors
// whose messages never leave their node, such as messages with channels or functions.
func WithoutEncoding() actor.Option { return extension.WithEncoding(nil) }

// WithEncoding makes a system encode messages as between nodes, and fails the test for each type
// of messages that cannot be encoded. [NewSystem] does this already. Use WithEncoding for other
// systems, such as those of nodes, in cluster.Config.SystemOptions. The system must be shut down
// before the test ends.
func WithEncoding(t testing.TB) actor.Option {
	r := &encodingReport{t: t, reported: make(map[reflect.Type]bool)}
	t.Cleanup(r.close)
	return extension.WithEncoding(r.failed)
}

// Each type is reported once.
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
