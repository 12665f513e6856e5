package transport_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/memnet"
)

// Two versions of an application in one cluster. This process registers the types of one version.
// The other version is a peer that speaks the protocol by hand, because a process has one registry.

// A purchase is what this version knows under its name.
type purchase struct {
	Item  string
	Count int
}

func init() { actor.RegisterType[purchase]("transport_test.order") }

// An orderedItem is the same message in a version that has not got the count yet, and a
// describedOrder in one that has added a note. In the program of these versions each has the name
// "transport_test.order".
type (
	orderedItem    struct{ Item string }
	describedOrder struct {
		Item  string
		Count int
		Note  string
	}
)

// fromOtherVersion returns the orders that arrive when a peer of another version sends messages,
// and the dead letters.
func fromOtherVersion(t *testing.T, send func(peer *raw)) (arrived []purchase, lost []actor.DeadLetter) {
	t.Helper()
	bubble(t, func(t *testing.T, n *memnet.Network) {
		b := start(t, n, "b")
		inbox, _ := spawn[purchase](b, "inbox")
		peer := dialUser(t, n, b)
		send(peer)
		peer.tell("transport_test.order", purchase{"last", 1})
		soon()
		arrived, lost = inbox.got(), b.lost.got()
		require.Equal(t, purchase{"last", 1}, arrived[len(arrived)-1], "the connection is kept")
		arrived = arrived[:len(arrived)-1]
	})
	return arrived, lost
}

func TestAFieldThatOnlyTheSenderHasIsIgnored(t *testing.T) {
	arrived, lost := fromOtherVersion(t, func(peer *raw) {
		peer.tell("transport_test.order", describedOrder{"pump", 3, "urgent"})
	})
	require.Equal(t, []purchase{{"pump", 3}}, arrived)
	require.Empty(t, lost)
}

func TestAFieldThatOnlyTheReceiverHasIsZero(t *testing.T) {
	arrived, lost := fromOtherVersion(t, func(peer *raw) {
		peer.tell("transport_test.order", orderedItem{"pump"})
	})
	require.Equal(t, []purchase{{"pump", 0}}, arrived)
	require.Empty(t, lost)
}

func TestATypeThatIsRenamedUnderItsOldNameArrives(t *testing.T) {
	type bought purchase // what the other version calls it
	arrived, lost := fromOtherVersion(t, func(peer *raw) {
		peer.tell("transport_test.order", bought{"pump", 3})
	})
	require.Equal(t, []purchase{{"pump", 3}}, arrived)
	require.Empty(t, lost)
}

func TestATypeThatTheReceiverDoesNotKnowIsADeadLetterThere(t *testing.T) {
	arrived, lost := fromOtherVersion(t, func(peer *raw) {
		peer.tell("transport_test.order/2", describedOrder{"pump", 3, "urgent"})
	})
	require.Empty(t, arrived)
	require.Len(t, lost, 1)
	require.ErrorIs(t, lost[0].Reason, actor.ErrNotDecodable)
	require.ErrorContains(t, lost[0].Reason, `actor.RegisterType[T]("transport_test.order/2")`)
}

func TestAnotherVersionOfAMessageIsADeadLetterThatNamesBothVersions(t *testing.T) {
	actor.RegisterType[describedOrder]("transport_test.described/2")
	_, lost := fromOtherVersion(t, func(peer *raw) { peer.tell("transport_test.described/1", orderedItem{"pump"}) })
	require.Len(t, lost, 1)
	require.ErrorContains(t, lost[0].Reason, `no type is registered as "transport_test.described/1" here, only "transport_test.described/2": another version of the program has sent or stored it`)
	require.ErrorContains(t, lost[0].Reason, `actor.RegisterType[T]("transport_test.described/1")`)
}

func TestATypeOfTheFrameworkThatTheReceiverDoesNotKnowIsCountedAndNoDeadLetter(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		b := start(t, n, "b")
		peer := dialUser(t, n, b)
		for range 3 {
			peer.tell("understudy.cluster.new", []string{"new"})
		}
		peer.tell("understudy/new.kind/1", 1)
		soon()
		require.Empty(t, b.lost.got())
		require.Equal(t, map[string]uint64{"understudy.cluster.new": 3, "understudy/new.kind/1": 1}, b.Skipped())
	})
}

func TestATypeOfTheUsersWhoseNameOnlyBeginsLikeTheFrameworkIsADeadLetter(t *testing.T) {
	names := []string{"understudyshop.Order", "understudy", "understudy-shop/order", "Understudy.order"}
	_, lost := fromOtherVersion(t, func(peer *raw) {
		for _, name := range names {
			peer.tell(name, 1)
		}
	})
	require.Len(t, lost, len(names))
	for _, letter := range lost {
		require.ErrorIs(t, letter.Reason, actor.ErrNotDecodable)
	}
}

func TestAFieldOfAnotherTypeIsADeadLetterThatNamesTheField(t *testing.T) {
	type textual struct{ Item, Count string }
	arrived, lost := fromOtherVersion(t, func(peer *raw) {
		peer.tell("transport_test.order", textual{"pump", "three"})
	})
	require.Empty(t, arrived)
	require.Len(t, lost, 1)
	require.ErrorIs(t, lost[0].Reason, actor.ErrNotDecodable)
	var why *codec.DecodeError
	require.ErrorAs(t, lost[0].Reason, &why)
	require.ErrorContains(t, lost[0].Reason, "Count")
}

// The other version asks under a name that this one does not know: the test sends the request by
// hand, and another one to an actor that never answers.
func TestAnAskWhoseRequestNobodyKnowsEndsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		spawn[question](b, "inbox")
		peer := dialUser(t, n, b)
		begin := time.Now()
		_, err := actor.Ask(t.Context(), ref[question](a, b, "/user/inbox"), func(reply actor.ActorRef[int]) question {
			peer.tell("transport_test.question/2", question{1, reply})
			return question{1, reply}
		})
		require.ErrorIs(t, err, actor.ErrNotDecodable)
		require.ErrorContains(t, err, "transport_test.question/2")
		require.Less(t, time.Since(begin), time.Second)
	})
}
