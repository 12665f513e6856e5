package actor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

type ref = actor.ActorRef[int]

// refs has refs wherever a message can have them.
type refs struct {
	Plain   ref
	Pointer *ref
	Slice   []ref
	Array   [2]ref
	Value   map[string]ref
	Key     map[ref]string
	Inner   struct{ Ref ref }
	Next    *refs
	Structs []*struct{ M map[int][]ref }
	embedded
	Zero ref
	Nil  *ref
}

type embedded struct{ Promoted ref }

type (
	unregistered   struct{}
	undecodable    struct{ N int }
	unserializable struct{ E error }
)

func init() {
	actor.RegisterType[refs]("test.refs")
	actor.RegisterType[undecodable]("test.undecodable")
	actor.RegisterType[unserializable]("test.unserializable")
	actor.RegisterType[ref]("test.ref")
	actor.RegisterType[map[string]ref]("test.map")
}

func everywhere(r ref) refs {
	return refs{
		Plain: r, Pointer: &r, Slice: []ref{r, r}, Array: [2]ref{r, r},
		Value: map[string]ref{"a": r}, Key: map[ref]string{r: "a"},
		Inner: struct{ Ref ref }{r}, Next: &refs{Plain: r},
		Structs:  []*struct{ M map[int][]ref }{{M: map[int][]ref{1: {r}}}, nil},
		embedded: embedded{r},
	}
}

func roundTrip[T any](t *testing.T, s *actor.System, v T) T {
	t.Helper()
	p, err := extension.Pack(v)
	require.NoError(t, err)
	got, err := extension.Unpack(s, p)
	require.NoError(t, err)
	return got.(T)
}

func TestRefsSurviveTheRoundTripWhereverTheyAre(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	r := actor.Spawn(s, behaviors.Ignore[int], "x")
	want := everywhere(r)
	require.Equal(t, want, roundTrip(t, s, want))
	require.True(t, same(r, roundTrip(t, s, r)))
	require.Equal(t, map[string]ref{"a": r, "zero": {}}, roundTrip(t, s, map[string]ref{"a": r, "zero": {}}))
	require.Equal(t, refs{}, roundTrip(t, s, refs{}))
}

func TestDecodedRefsOfOneRemoteActorAreEqual(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	remote := actor.Resolve[int](s, "understudy://other@elsewhere:1/user/x#17")
	first, second := roundTrip(t, s, everywhere(remote)), roundTrip(t, s, everywhere(remote))
	require.Equal(t, everywhere(remote), first)
	require.True(t, same(remote, first.Plain) && same(remote, second.Plain) && same(remote, second.Slice[1]))
	require.Equal(t, "a", first.Key[second.Slice[0]])
	require.Equal(t, "understudy://other@elsewhere:1/user/x#17", second.Plain.String())
	require.False(t, same(remote, actor.Resolve[int](s, "understudy://other@elsewhere:1/user/x#18")), "another number is another actor")
}

func TestARefOfAnActorThatHasASuccessorIsStale(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		dead := deadLetters(t, s)
		old := actor.Spawn(s, behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] {
			return behaviors.Stopped
		}), "x")
		p, err := extension.Pack(old)
		require.NoError(t, err)
		old.Tell(1)
		testkit.NewProbe[int](t, s).ExpectTerminated(old)
		decode := func() ref {
			v, err := extension.Unpack(s, p)
			require.NoError(t, err)
			return v.(ref)
		}
		decode().Tell(2)
		require.ErrorIs(t, dead.Receive().Reason, actor.ErrNoSuchActor)
		actor.Spawn(s, behaviors.Ignore[int], "x")
		decode().Tell(3)
		require.ErrorIs(t, dead.Receive().Reason, actor.ErrStaleRef)
	})
}

func TestPackSaysHowToRegisterAType(t *testing.T) {
	_, err := extension.Pack(unregistered{})
	require.ErrorIs(t, err, actor.ErrNotSerializable)
	var unregistered *codec.UnregisteredError
	require.ErrorAs(t, err, &unregistered)
	require.ErrorContains(t, err, `add to an init function: actor.RegisterType[actor_test.unregistered]("a stable name")`)
	_, err = extension.Pack(nil)
	require.ErrorIs(t, err, actor.ErrNotSerializable)
	_, err = extension.Pack(unserializable{errBoom})
	require.ErrorIs(t, err, actor.ErrNotSerializable)
}

func TestUnpackSaysWhatIsWrong(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	_, err := extension.Unpack(s, extension.Payload{Type: "nobody's"})
	require.ErrorIs(t, err, actor.ErrNotDecodable)
	var unknown *codec.UnknownNameError
	require.ErrorAs(t, err, &unknown)
	require.ErrorContains(t, err, `no type is registered as "nobody's" here`)

	_, err = extension.Unpack(s, extension.Payload{Type: "test.undecodable", Data: []byte{0xff}})
	require.ErrorIs(t, err, actor.ErrNotDecodable)
	var broken *codec.DecodeError
	require.ErrorAs(t, err, &broken)

	_, err = extension.Unpack(s, extension.Payload{Type: "test.ref", Data: []byte{0x01}})
	require.ErrorIs(t, err, actor.ErrNotDecodable)
}

func TestUnpackWithoutASystemTakesNoRefs(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	p, err := extension.Pack(refs{})
	require.NoError(t, err)
	_, err = extension.Unpack(nil, p)
	require.NoError(t, err)
	for _, v := range []any{
		everywhere(actor.Spawn(s, behaviors.Ignore[int], "")),
		map[string]ref{"a": actor.Spawn(s, behaviors.Ignore[int], "")},
	} {
		p, err := extension.Pack(v)
		require.NoError(t, err)
		_, err = extension.Unpack(nil, p)
		require.ErrorIs(t, err, actor.ErrNotDecodable)
		require.ErrorContains(t, err, "an ActorRef outside of any system")
	}
}

func TestBasicTypesHaveNamesAlready(t *testing.T) {
	for _, v := range []any{true, 1, int64(-1), uint8(1), 1.5, "s", []byte("b"), []string{"a"}, map[string]int{"a": 1}, struct{}{}} {
		require.Equal(t, v, roundTrip(t, nil, v))
	}
}

func TestRegisterTypeRefusesWhatWouldBeAmbiguous(t *testing.T) {
	type a struct{}
	type b struct{}
	actor.RegisterType[a]("test.a")
	actor.RegisterType[a]("test.a") // the same again is fine
	require.PanicsWithValue(t, `codec: name "test.a" is taken by type actor_test.a, cannot give it to actor_test.b`,
		func() { actor.RegisterType[b]("test.a") })
	require.PanicsWithValue(t, `codec: type actor_test.a is registered as "test.a" already, cannot be "test.b" as well`,
		func() { actor.RegisterType[a]("test.b") })
	type c interface{ C() }
	require.PanicsWithValue(t, `codec: name "test.a" is taken by type actor_test.a, cannot give it to actor_test.c`,
		func() { actor.RegisterType[c]("test.a") })
	require.Panics(t, func() { actor.RegisterType[b]("") })
}

func TestARefThatWasDecodedOutsideOfAnySystemIsNobodys(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		dead := deadLetters(t, s)
		r := actor.Spawn(s, behaviors.Ignore[int], "x")
		data, err := codec.Marshal(r)
		require.NoError(t, err)
		var loose ref
		require.NoError(t, codec.Unmarshal(data, &loose))
		require.Equal(t, r.String(), loose.Path())
		loose.Tell(1)
		dead.Expect(actor.DeadLetter{Recipient: r.String(), Message: 1, Reason: actor.ErrNoRef})
		_, err = actor.Ask(t.Context(), loose, func(ref) int { return 1 })
		require.ErrorIs(t, err, actor.ErrNoRef)
		again, err := codec.Marshal(loose)
		require.NoError(t, err)
		require.Equal(t, data, again)
	})
}
