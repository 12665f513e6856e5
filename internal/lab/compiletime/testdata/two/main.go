// Command two has two types of messages, which look different in memory.
package main

import "github.com/understudy-go/understudy/actor"

type greeting struct{ from, to string }

type order struct {
	number  int
	article string
}

func main() {
	s := actor.NewSystem("two")
	actor.Spawn(s, func(*actor.Context[greeting], *actor.Next[greeting]) {}, "greeter")
	actor.Spawn(s, func(*actor.Context[order], *actor.Next[order]) {}, "clerk")
}
