package singleton

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
)

func TestTheHubExpectsAManagerWhoseRegistrationIsOnItsWay(t *testing.T) {
	h := &hub{post: post{system: actor.NewSystem("test")}}
	t.Cleanup(func() { require.NoError(t, h.post.system.Shutdown(t.Context())) })
	require.False(t, h.expects("one"))
	registryOf(h.post.system).write(Status{Name: "one"})
	require.True(t, h.expects("one"))
	registryOf(h.post.system).erase("one")
	require.False(t, h.expects("one"))
}
