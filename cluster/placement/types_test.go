//go:build !quick

package placement

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/internal/home/shell"
	"github.com/understudy-go/understudy/testkit"
)

// A fussy state can be encoded only when it is not in the way.
type fussy struct{ Fails bool }

func (f fussy) MarshalCBOR() ([]byte, error) {
	if f.Fails {
		return nil, errFussy
	}
	return []byte{0xf5}, nil
}

func (f *fussy) UnmarshalCBOR([]byte) error { return nil }

var fussies = NewType[fussy, int]("types-test-fussy")

var errFussy = errors.New("too fussy")

func TestATypeMakesSpecs(t *testing.T) {
	require.Equal(t, "agent-test-worker", workers.Name())
	s := workers.Spec("x", job{Flaky: 3})
	require.NoError(t, s.Validate())
	require.Equal(t, Spec{Label: "x", Type: "agent-test-worker", State: s.State}, s)
	require.NotEmpty(t, s.State)
	one := workers.Singleton("y", job{Flaky: 3}, OnNode("n1"))
	require.NoError(t, one.Validate())
	require.Equal(t, SingletonSpec{Label: "y", Type: "agent-test-worker", State: s.State, Anchor: OnNode("n1")}, one)
}

func TestAStateThatCannotBeEncodedMakesASpecInvalid(t *testing.T) {
	require.ErrorContains(t, fussies.Spec("x", fussy{Fails: true}).Validate(), "too fussy")
	require.ErrorContains(t, fussies.Singleton("x", fussy{Fails: true}, Leader()).Validate(), "too fussy")
	require.ErrorIs(t, fussies.Spec("x", fussy{Fails: true}).Validate(), errFussy)
	require.NoError(t, fussies.Spec("x", fussy{}).Validate())
}

func TestNewTypePanicsWhereTheMistakeIs(t *testing.T) {
	require.PanicsWithValue(t, "placement: a type needs a name", func() { NewType[int, int]("") })
	require.PanicsWithValue(t, `placement: the factory of type "x" is nil`, func() { NewType[int, int]("x").Factory(nil) })
	require.Panics(t, func() { NewType[chan int, int]("chan") })
	require.Panics(t, func() { NewType[struct{ F func() }, int]("func") })
	require.Panics(t, func() { NewType[error, int]("interface") })
	require.Panics(t, func() { NewType[struct{ lost int }, int]("lost") })
	require.NotPanics(t, func() {
		NewType[struct {
			cache int `cbor:"-"`
		}, int]("cache")
	})
}

func TestFactoriesThatMakeNoSenseAreRefused(t *testing.T) {
	ignore := func(int) actor.Behavior[int] { return behaviors.Ignore }
	one := NewType[int, int]("one").Factory(ignore)
	for why, all := range map[string][]Factory{
		"Config.Factories[1] is of no type":       {one, {}},
		`two for type "one"`:                      {one, NewType[int, int]("one").Factory(ignore)},
		"Config.Factories[0] is of no type; make": {Type[int, int]{}.Factory(ignore)},
	} {
		_, err := factoriesOf(all)
		require.ErrorContains(t, err, why)
		var field *FieldError
		require.ErrorAs(t, err, &field)
		require.Equal(t, "Config.Factories", field.Field)
	}
	none, err := factoriesOf(nil)
	require.NoError(t, err)
	started := make(chan error)
	system := testkit.NewSystem(t)
	actor.Spawn(system, behaviors.Setup(func(under *actor.Context[any]) actor.Behavior[any] {
		_, err := none.Start(under, home.StartRequest{Type: "one"}, shell.Hooks{})
		started <- err
		return behaviors.Stopped[any]
	}), "")
	require.ErrorContains(t, <-started, system.Address()+` has no factory for type "one"; give it one by placement.Config.Factories`)
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
