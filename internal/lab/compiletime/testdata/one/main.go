// Command one has one type of messages. Its difference to command two is what a type costs.
package main

import "github.com/understudy-go/understudy/actor"

type greeting struct{ from, to string }

func main() {
	s := actor.NewSystem("one")
	actor.Spawn(s, func(*actor.Context[greeting], *actor.Next[greeting]) {}, "greeter")
}
