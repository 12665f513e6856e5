package singleton

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/singleton/internal/handover"
)

func last(candidates []Candidate) (string, bool) { return candidates[len(candidates)-1].Name, true }

func TestAnchorsThatContradictEachOtherPanic(t *testing.T) {
	for want, opts := range map[string][]Option{
		`singleton: OnOldest() and OnNode("a") contradict each other; give one of them`:                                            {OnOldest(), OnNode("a")},
		`singleton: OnLeader() and OnOldest() contradict each other; give one of them`:                                             {OnLeader(), OnOldest()},
		`singleton: OnNode("a") and OnNode("b") contradict each other; give one of them`:                                           {OnNode("a"), OnNode("b")},
		`singleton: OnNode("a") and Role("x") contradict each other; a node that is named needs no role, so leave one of them out`: {Role("x"), OnNode("a")},
	} {
		require.PanicsWithValue(t, want, func() { newSettings(opts) })
	}
	require.PanicsWithValue(t, "singleton: OnElected needs a name and a function", func() { OnElected("", last) })
	require.PanicsWithValue(t, `singleton: OnNode(""): name the node by its cluster.Config.NodeID, or leave the option out`, func() { OnNode("") })
}

func signatureOf[M any](opts ...Option) string {
	set := newSettings(opts)
	return handover.SignatureOf(set.compared(reflect.TypeFor[M]()))
}

func TestSignaturesSayWhatMustBeTheSame(t *testing.T) {
	signature := signatureOf[wire.Message[wire.Grant]](Role("worker"), OnOldest(), StopMessage(7), Buffer(3))
	require.Equal(t, "message=understudy.singleton.grant#role=worker#anchor=oldest#stop message=int", signature)
	require.Equal(t, `role is "worker" here and "" there, anchor is "oldest" here and "" there, stop message is "int" here and "" there`,
		handover.Differences(signature, signatureOf[wire.Message[wire.Grant]]()))
}

func TestSignaturesAreBoundedAndStillTellApart(t *testing.T) {
	long := strings.Repeat("é", 100)
	sign := func(role string) string { return signatureOf[string](Role(role)) }
	require.Less(t, len(sign(long)), 200)
	require.NotEqual(t, sign(long+"a"), sign(long+"b"))
	require.Contains(t, handover.Differences(sign(long+"a"), sign(long+"b")), "role is")
	require.NotContains(t, strings.TrimPrefix(sign("a#role=b"), "message=string#role="), "#")
}
