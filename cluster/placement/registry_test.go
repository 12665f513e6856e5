package placement

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// A fussy state can be encoded only when it is not in the way.
type fussy struct{ Fails bool }

func (f fussy) MarshalCBOR() ([]byte, error) {
	if f.Fails {
		return nil, errors.New("too fussy")
	}
	return []byte{0xf5}, nil
}

func (f *fussy) UnmarshalCBOR([]byte) error { return nil }

var fussies = Register("registry-test-fussy", func(fussy) actor.Behavior[int] { return behaviors.Ignore })

func TestATypeMakesSpecs(t *testing.T) {
	require.Equal(t, "agent-test-worker", workers.Name())
	s := workers.Spec("x", job{Flaky: 3})
	require.NoError(t, s.validate())
	require.Equal(t, Spec{Label: "x", Type: "agent-test-worker", State: s.State}, s)
	require.NotEmpty(t, s.State)
	one := workers.Singleton("y", job{Flaky: 3}, OnNode("n1"))
	require.NoError(t, one.validate())
	require.Equal(t, SingletonSpec{Label: "y", Type: "agent-test-worker", State: s.State, Anchor: OnNode("n1")}, one)
}

func TestAStateThatCannotBeEncodedMakesASpecInvalid(t *testing.T) {
	require.ErrorContains(t, fussies.Spec("x", fussy{Fails: true}).validate(), "too fussy")
	require.ErrorContains(t, fussies.Singleton("x", fussy{Fails: true}, Leader()).validate(), "too fussy")
	require.NoError(t, fussies.Spec("x", fussy{}).validate())
}

func TestRegisterPanicsWhereTheMistakeIs(t *testing.T) {
	make1 := func(int) actor.Behavior[int] { return behaviors.Ignore }
	require.PanicsWithValue(t, "placement: a type needs a name", func() { Register("", make1) })
	require.PanicsWithValue(t, `placement: type "x" needs a factory`, func() { Register[int, int]("x", nil) })
	require.PanicsWithValue(t, `placement: type "agent-test-worker" is registered already; give this one another name`,
		func() { Register("agent-test-worker", make1) })
	require.Panics(t, func() { Register("chan", func(chan int) actor.Behavior[int] { return nil }) })
	require.Panics(t, func() {
		Register("func", func(struct{ F func() }) actor.Behavior[int] { return nil })
	})
	require.Panics(t, func() { Register("interface", func(error) actor.Behavior[int] { return nil }) })
	_, err := starterOf("chan")
	require.Error(t, err, "what has panicked is not registered")
}

func TestLabelsBecomeNamesThatNoOtherLabelGets(t *testing.T) {
	for label, want := range map[string]string{
		"storage/photos": "storage:photos",
		"storage:photos": "storage~3Aphotos",
		"a b":            "a~20b",
		"~20":            "~7E20",
		"$1":             "~241",
		"Größe":          "Gr~C3~B6~C3~9Fe",
		"a-_.+@Z9":       "a-_.+@Z9",
	} {
		require.Equal(t, want, escape(label))
	}
}

func FuzzEscapedLabelsAreDifferentNames(f *testing.F) {
	f.Add("a/b", "a:b")
	f.Add("~2F", "/")
	f.Fuzz(func(t *testing.T, a, b string) {
		require.Equal(t, a == b, escape(a) == escape(b))
		require.Regexp(t, `^[a-zA-Z0-9\-_.:~+@]*$`, escape(a))
	})
}
