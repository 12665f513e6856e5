package actor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

var (
	errOverdrawn       = errors.New("overdrawn")
	errUnnamed         = errors.New("unnamed")
	errLookalike       = errors.New("overdrawn")
	_            error = overdraft{}
)

// An overdraft is an error with fields.
type overdraft struct{ By int }

func (o overdraft) Error() string { return fmt.Sprintf("overdrawn by %d", o.By) }

func (o overdraft) Is(target error) bool { return target == errOverdrawn }

// An untellable error panics when anybody looks at it.
type untellable struct{}

func (*untellable) Error() string { panic("boom") }

func init() {
	actor.RegisterError("actor_test.overdrawn", errOverdrawn)
	actor.RegisterType[overdraft]("actor_test.overdraft")
}

// across returns what another node gets of err.
func across(t *testing.T, err error) error {
	t.Helper()
	p, failure := extension.Pack(actor.Result[string]{Err: err})
	require.NoError(t, failure)
	got, failure := extension.Unpack(nil, p)
	require.NoError(t, failure)
	return got.(actor.Result[string]).Err
}

func TestErrorsKeepTheirIdentityAcrossNodesWhereTheyAreRegistered(t *testing.T) {
	for name, err := range map[string]error{
		"itself":          errOverdrawn,
		"wrapped":         fmt.Errorf("account 7: %w", errOverdrawn),
		"joined":          errors.Join(errUnnamed, fmt.Errorf("deep: %w", errOverdrawn)),
		"by an Is method": overdraft{By: 3},
		"twice across":    across(t, fmt.Errorf("account 7: %w", errOverdrawn)),
	} {
		got := across(t, err)
		require.EqualError(t, got, err.Error(), name)
		require.ErrorIs(t, got, errOverdrawn, name)
		require.NotErrorIs(t, got, errUnnamed, name)
		require.NotErrorIs(t, got, errLookalike, name)
		require.NotErrorIs(t, got, actor.ErrTerminated, name)
	}
	require.NoError(t, across(t, nil))
	require.EqualError(t, across(t, errUnnamed), "unnamed")
}

func TestErrorTypesThatAreRegisteredCrossWithTheirFields(t *testing.T) {
	for name, err := range map[string]error{
		"itself":       overdraft{By: 3},
		"wrapped":      fmt.Errorf("account 7: %w", overdraft{By: 3}),
		"joined":       errors.Join(errUnnamed, overdraft{By: 3}),
		"twice across": across(t, fmt.Errorf("account 7: %w", overdraft{By: 3})),
	} {
		var o overdraft
		require.ErrorAs(t, across(t, err), &o, name)
		require.Equal(t, overdraft{By: 3}, o, name)
	}
}

func TestTheErrorsOfTheFrameworkAndOfContextsCross(t *testing.T) {
	for _, err := range []error{
		actor.ErrTerminated, actor.ErrNoSuchActor, actor.ErrStaleRef, actor.ErrNoRef, actor.ErrWrongType, actor.ErrMailboxFull,
		actor.ErrStashFull, actor.ErrStaleHandler, actor.ErrLateReply, actor.ErrUnreachable, actor.ErrNotSerializable,
		actor.ErrNotDecodable, actor.ErrDropped, actor.ErrDeathPact, actor.ErrEscalated, context.Canceled, context.DeadlineExceeded,
	} {
		require.ErrorIs(t, across(t, fmt.Errorf("why: %w", err)), err)
	}
}

func TestAnErrorThatCannotBeToldIsStillAnError(t *testing.T) {
	require.ErrorContains(t, across(t, &untellable{}), "*actor_test.untellable")
	require.EqualError(t, across(t, errors.New("a\xffb")), "a\uFFFDb")
}

func TestANodeThatDoesNotKnowAnErrorGetsItsText(t *testing.T) {
	err := extension.UnpackError(nil, extension.ErrorPayload{
		Failed: true, Text: "strange", Is: []string{"nobody.knows", "actor_test.overdrawn"},
		As: []extension.Payload{{Type: "nobody.knows"}, {Type: "string", Data: []byte{0x60}}},
	})
	require.EqualError(t, err, "strange")
	require.ErrorIs(t, err, errOverdrawn)
}

func TestRegisterErrorPanicsWhereTheMistakeIs(t *testing.T) {
	actor.RegisterError("actor_test.overdrawn", errOverdrawn) // again is fine
	require.PanicsWithValue(t, `actor: name "actor_test.overdrawn" is taken by the error "overdrawn", cannot give it to "unnamed"`,
		func() { actor.RegisterError("actor_test.overdrawn", errUnnamed) })
	require.PanicsWithValue(t, `actor: error "overdrawn" is registered as "actor_test.overdrawn" already, cannot be "other" as well`,
		func() { actor.RegisterError("other", errOverdrawn) })
	require.Panics(t, func() { actor.RegisterError("", errUnnamed) })
	require.Panics(t, func() { actor.RegisterError("nil", nil) })
}
