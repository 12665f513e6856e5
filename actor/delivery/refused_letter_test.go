package delivery_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/testkit"
)

func TestARefusedMessageIsADeadLetterThatNobodySendsAgainPastTheProducer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, actor.WithLogger(zap.NewNop()), actorhook.KeepMessages(10).(actor.Option)) // by its contract
		producer := actor.Spawn(s, delivery.Producer[int](), "producer")
		tries := 0
		broken := behaviors.Receive(func(ctx *actor.Context[delivery.Delivery[int]], _ delivery.Delivery[int]) actor.Behavior[delivery.Delivery[int]] {
			tries++
			return ctx.Fail(errors.New("broken"))
		})
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(behaviors.Supervise(broken, actor.Strategy{}), delivery.Attempts(1)), "consumer")})
		producer.Tell(delivery.Send[int]{Message: 7})
		synctest.Wait()
		letters := actorhook.KeptDeadLetters(s)
		require.Len(t, letters, 1)
		require.Contains(t, letters[0].Recipient, "/user/consumer")
		require.Equal(t, []uint64{1}, letters[0].Numbers)
		again, err := actorhook.Resend(s, 1, func(recipient string) string { return recipient })
		require.NoError(t, err)
		require.ErrorIs(t, again.Dead, actor.ErrWrongType)
		require.EqualValues(t, 2, again.Number, "it is not lost")
		require.Equal(t, 1, tries)
	})
}
