package singletons

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
)

func TestTheHubExpectsAManagerWhoseRegistrationIsOnItsWay(t *testing.T) {
	s := actor.NewSystem("test")
	t.Cleanup(func() { require.NoError(t, s.Shutdown(t.Context())) })
	h := &hub{link: &Link{begun: map[string]bool{}}, post: Post{System: s}}
	require.False(t, h.expects("one"))
	h.link.Register("one#role=worker", nil, actor.ActorRef[any]{})
	require.True(t, h.expects("one"))
	h.link.Unregister("one", 0)
	require.False(t, h.expects("one"))
}
