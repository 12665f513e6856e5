package transport_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

// A square asks for the square of a number.
type square struct {
	Of      int
	ReplyTo actor.ActorRef[int]
}

func init() { actor.RegisterType[square]("example.square") }

// squarer answers squares.
func squarer(_ *actor.Context[square], next *actor.Next[square]) {
	next.OnMessage = func(_ *actor.Context[square], m square) actor.Behavior[square] {
		m.ReplyTo.Tell(m.Of * m.Of)
		return nil
	}
}

// join runs once in each process.
func join(name string) (*transport.Endpoint, *actor.System) {
	e, err := transport.Listen(transport.Config{Cluster: "example"})
	if err != nil {
		panic(err)
	}
	s := actor.NewSystem(name, extension.WithTransport(e.Addr(), e))
	e.Serve(s)
	return e, s
}

func ExampleListen() {
	here, hereSystem := join("here")
	defer here.Close()
	there, thereSystem := join("there")
	defer there.Close()

	actor.Spawn(thereSystem, squarer, "squarer")
	ref := actor.Resolve[square](hereSystem, "understudy://there@"+there.Addr()+"/user/squarer")
	fmt.Println(actor.Ask(context.Background(), ref, func(replyTo actor.ActorRef[int]) square {
		return square{Of: 7, ReplyTo: replyTo}
	}))
	// Output: 49 <nil>
}
