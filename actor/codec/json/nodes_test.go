package json_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/codec/json"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/process"
	"github.com/understudy-go/understudy/internal/transport"
)

type (
	// A quote is answered with a price.
	quote struct {
		Item    string
		ReplyTo string
	}
	price struct{ Cents int64 }

	// A letter is CBOR, and has a price inside.
	letter struct {
		Prices  map[string]*price
		ReplyTo actor.ActorRef[actor.Result[price]]
	}
)

// A shopCodec is of a name of its own, which no other type of this package has.
type shopCodec struct{ json.Codec }

func (shopCodec) Name() string { return "shop.json" }

// codecEnv makes the test binary a shop of a version that has the codec, or of one that has not.
const codecEnv = "UNDERSTUDY_JSON"

func TestMain(m *testing.M) {
	actor.RegisterType[letter]("shop.letter")
	version, child := os.LookupEnv(codecEnv)
	if version == "without" {
		actor.RegisterType[quote]("shop.quote")
		actor.RegisterType[price]("shop.price")
	} else {
		actor.RegisterType[quote]("shop.quote", actor.WithCodec(shopCodec{}))
		actor.RegisterType[price]("shop.price", actor.WithCodec(shopCodec{}))
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
	openShop(system)
	fmt.Println(endpoint.Addr())
	<-ctx.Done()
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

func openShop(s *actor.System) {
	actor.Spawn(s, behaviors.Receive(func(ctx *actor.Context[quote], q quote) actor.Behavior[quote] {
		actor.Resolve[price](ctx.System(), q.ReplyTo).Tell(price{int64(len(q.Item))})
		return nil
	}), "shop")
	actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[letter], l letter) actor.Behavior[letter] {
		l.ReplyTo.Tell(actor.Result[price]{Value: *l.Prices["tea"]})
		return nil
	}), "letters")
	actor.Subscribe(s, actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[actor.DeadLetter], d actor.DeadLetter) actor.Behavior[actor.DeadLetter] {
		fmt.Println(d.Reason)
		return nil
	}), "lost"))
}

// shopIn starts a process with a shop, and a node here that reaches it.
func shopIn(t *testing.T, version string) (*process.Process, *actor.System, string) {
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
	return p, system, "understudy://shop@" + addr + "/user/"
}

func ask(t *testing.T, s *actor.System, path string) (price, error) {
	t.Helper()
	return actor.Ask(t.Context(), actor.Resolve[quote](s, path+"shop"), func(replyTo actor.ActorRef[price]) quote {
		return quote{Item: "tea", ReplyTo: actor.RefText(replyTo)}
	})
}

func write(t *testing.T, s *actor.System, path string) (price, error) {
	t.Helper()
	return actor.AskResult(t.Context(), actor.Resolve[letter](s, path+"letters"), func(replyTo actor.ActorRef[actor.Result[price]]) letter {
		return letter{Prices: map[string]*price{"tea": {7}, "none": nil}, ReplyTo: replyTo}
	})
}

func TestMessagesWithACodecCrossTheWire(t *testing.T) {
	_, system, path := shopIn(t, "with")
	got, err := ask(t, system, path)
	require.NoError(t, err)
	require.Equal(t, price{3}, got)
	got, err = write(t, system, path)
	require.NoError(t, err, "in a field, and in the result")
	require.Equal(t, price{7}, got)
}

// The ask fails at once. The dead letter of the other node has the reason, too.
func TestANodeWithoutTheCodecAnswersWithTheReason(t *testing.T) {
	p, system, path := shopIn(t, "without")
	const want = `decode shop.quote: another version of the program has encoded it by the codec "shop.json", which no type here has; register json_test.quote`
	_, err := ask(t, system, path)
	require.ErrorIs(t, err, actor.ErrNotDecodable)
	require.ErrorContains(t, err, want)
	line, ok := p.Line()
	require.True(t, ok)
	require.Contains(t, line, want)

	_, err = write(t, system, path)
	require.ErrorIs(t, err, actor.ErrNotDecodable)
	require.ErrorContains(t, err, `decode shop.letter: at .Prices["tea"]: another version of the program has encoded it by the codec "shop.json", which no type here has; register json_test.price`)
}
