package protobuf_test

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/codec/protobuf"
	"github.com/understudy-go/understudy/actor/codec/protobuf/internal/shop"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/process"
	"github.com/understudy-go/understudy/internal/transport"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

// A parcel is CBOR, with a message inside, and a ref.
type parcel struct {
	Lines   []*shop.Line
	ReplyTo actor.ActorRef[actor.Result[*shop.Cart]]
}

// codecEnv makes the test binary a shop of a version that has the codec, or of one that has not.
const codecEnv = "UNDERSTUDY_PROTOBUF"

func TestMain(m *testing.M) {
	version, child := os.LookupEnv(codecEnv)
	actor.RegisterType[parcel]("shop.parcel")
	if version == "without" {
		actor.RegisterType[*shop.Command]("shop.command")
		actor.RegisterType[*shop.Event]("shop.event")
		actor.RegisterType[*shop.Cart]("shop.cart")
	} else {
		register()
	}
	if !child {
		os.Exit(m.Run())
	}
	ctx := process.UntilEOF()
	endpoint, system, err := join()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	actor.Spawn(system, cartIn(journal.NewMemory()), "cart")
	actor.Spawn(system, behaviors.Receive(func(_ *actor.Context[parcel], p parcel) actor.Behavior[parcel] {
		p.ReplyTo.Tell(actor.Result[*shop.Cart]{Value: &shop.Cart{Lines: p.Lines}})
		return nil
	}), "parcels")
	fmt.Println(endpoint.Addr())
	<-ctx.Done()
}

func register() {
	actor.RegisterType[*shop.Command]("shop.command", actor.WithCodec(protobuf.Codec{}))
	actor.RegisterType[*shop.Event]("shop.event", actor.WithCodec(protobuf.Codec{}))
	actor.RegisterType[*shop.Cart]("shop.cart", actor.WithCodec(protobuf.Codec{}))
	actor.RegisterType[*shop.Line]("shop.line", actor.WithCodec(protobuf.Codec{}))
}

func join() (*transport.Endpoint, *actor.System, error) {
	endpoint, err := transport.Listen(transport.Config{Cluster: "shop"})
	if err != nil {
		return nil, nil, err
	}
	system := actor.NewSystem("shop", extension.WithTransport(endpoint.Addr(), endpoint))
	endpoint.Serve(system)
	return endpoint, system, nil
}

// cartIn is an event-sourced actor whose command, event, state and reply are protobuf.
func cartIn(store persistence.Journal) actor.Behavior[*shop.Command] {
	return behaviors.EventSourced("cart-1", store, &shop.Cart{}, book,
		func(ctx *actor.Context[*shop.Command], cart *shop.Cart, c *shop.Command) persistence.Effect[*shop.Event] {
			event := &shop.Event{Note: c.GetNote(), At: &timestamppb.Timestamp{Seconds: 1}}
			switch c := c.GetCommand().(type) {
			case *shop.Command_Add:
				event.Event = &shop.Event_Added{Added: c.Add}
			case *shop.Command_Remove:
				event.Event = &shop.Event_Removed{Removed: c.Remove}
			}
			replyTo := actor.Resolve[*shop.Cart](ctx.System(), c.GetReplyTo())
			return persistence.Persist(event).Then(func() { replyTo.Tell(book(cart, event)) })
		}, persistence.SnapshotEvery(2, 1))
}

func book(cart *shop.Cart, e *shop.Event) *shop.Cart {
	cart = proto.CloneOf(cart)
	if e.GetNote() != nil {
		cart.Notes = append(cart.Notes, e.GetNote())
	}
	if line := e.GetAdded().GetLine(); line != nil {
		cart.Lines = append(cart.Lines, line)
		if cart.ByItem == nil {
			cart.ByItem = map[string]*shop.Line{}
		}
		cart.ByItem[line.GetItem()] = line
	}
	return cart
}

// giftLine has a field that this version of the program does not know.
func giftLine(t *testing.T) *shop.Line {
	t.Helper()
	data, err := proto.Marshal(&shop.LineV2{Item: "tea", Count: -1, Weight: 0.1, GiftFor: "Ada"})
	require.NoError(t, err)
	line := &shop.Line{}
	require.NoError(t, proto.Unmarshal(data, line))
	require.NotEmpty(t, line.ProtoReflect().GetUnknown())
	return line
}

func note(t *testing.T) *anypb.Any {
	t.Helper()
	wrapped, err := anypb.New(&shop.Remove{Item: "note"})
	require.NoError(t, err)
	return wrapped
}

func add(t *testing.T, to actor.ActorRef[*shop.Command]) (*shop.Cart, error) {
	t.Helper()
	command := &shop.Command{Command: &shop.Command_Add{Add: &shop.Add{Line: giftLine(t)}}, Note: note(t)}
	return actor.Ask(t.Context(), to, func(replyTo actor.ActorRef[*shop.Cart]) *shop.Command {
		command.ReplyTo = actor.RefText(replyTo)
		return command
	})
}

// requireWhole checks the oneof, the Any and the unknown field.
func requireWhole(t *testing.T, cart *shop.Cart, lines int) {
	t.Helper()
	require.Len(t, cart.GetLines(), lines)
	require.Len(t, cart.GetNotes(), lines)
	for i, line := range cart.GetLines() {
		require.True(t, proto.Equal(giftLine(t), line), "%v", line)
		require.Equal(t, protowire.AppendString(protowire.AppendTag(nil, 4, protowire.BytesType), "Ada"), []byte(line.ProtoReflect().GetUnknown()))
		inside, err := cart.GetNotes()[i].UnmarshalNew()
		require.NoError(t, err)
		require.True(t, proto.Equal(&shop.Remove{Item: "note"}, inside))
	}
	require.True(t, proto.Equal(giftLine(t), cart.GetByItem()["tea"]))
}

// shopIn starts a process with a shop, and a node here that reaches it.
func shopIn(t *testing.T, version string) (*actor.System, string) {
	t.Helper()
	p, err := process.Start(process.Self([]string{codecEnv + "=" + version}))
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	addr, ok := p.Line()
	require.True(t, ok)
	endpoint, system, err := join()
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, endpoint.Close())
		require.NoError(t, system.Shutdown(context.Background()))
	})
	return system, "understudy://shop@" + addr + "/user/"
}

func TestMessagesCrossTheWireAsTheyAre(t *testing.T) {
	system, path := shopIn(t, "with")
	cart, err := add(t, actor.Resolve[*shop.Command](system, path+"cart"))
	require.NoError(t, err)
	requireWhole(t, cart, 1)

	lines := []*shop.Line{giftLine(t), nil, {}}
	cart, err = actor.AskResult(t.Context(), actor.Resolve[parcel](system, path+"parcels"), func(replyTo actor.ActorRef[actor.Result[*shop.Cart]]) parcel {
		return parcel{lines[:1], replyTo}
	})
	require.NoError(t, err, "in a field and in a result")
	require.True(t, proto.Equal(lines[0], cart.GetLines()[0]))
}

func TestANodeWithoutTheCodecAnswersWithTheReason(t *testing.T) {
	system, path := shopIn(t, "without")
	_, err := add(t, actor.Resolve[*shop.Command](system, path+"cart"))
	require.ErrorIs(t, err, actor.ErrNotDecodable)
	require.ErrorContains(t, err, `decode shop.command: another version of the program has encoded it by the codec "protobuf", which no type here has; register *shop.Command`)
}

func TestEventsAndSnapshotsKeepEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := journal.NewMemory()
		for i := range 3 { // the third one has a snapshot and an event to read
			system := testkit.NewSystem(t)
			cart, err := add(t, actor.Spawn(system, cartIn(store), ""))
			require.NoError(t, err)
			requireWhole(t, cart, i+1)
			require.NoError(t, system.Shutdown(context.Background()))
		}
	})
}

func TestOnlyPointersToMessagesMayHaveTheCodec(t *testing.T) {
	require.NoError(t, protobuf.Codec{}.CheckType(reflect.TypeFor[*shop.Line]()))
	require.ErrorContains(t, protobuf.Codec{}.CheckType(reflect.TypeFor[shop.Line]()), "register the pointer: actor.RegisterType[*shop.Line]")
	require.ErrorContains(t, protobuf.Codec{}.CheckType(reflect.TypeFor[parcel]()), "no message that protoc has generated")
}
