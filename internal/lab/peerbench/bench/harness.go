package bench

// The functions of this file have the part of the scenarios that is the same for all libraries. P
// refers to an actor of the library. What runs once for each message is the library's own, so that
// nothing is added to its time.

// Tell runs [Contender].Tell. spawn spawns an actor that passes its messages to the sink. sender
// returns a function that sends a message.
func Tell[P any](r *Run, senders int, spawn func(*Sink) P, sender func(to P) func(Small)) {
	done := make(chan struct{})
	send := sender(spawn(newSink(r.N, func() { close(done) })))
	r.Start()
	r.Senders(senders, send)
	<-done
	r.Stop()
}

// FanOut runs [Contender].FanOut. spawn is as in [Tell]. sendAll sends n messages to actors in
// turn: message i has the number i / len(to).
func FanOut[P any](r *Run, actors int, spawn func(*Sink) P, sendAll func(to []P, n int)) {
	all := NewTally(min(actors, r.N))
	sinks := make([]P, actors)
	for i, share := range Split(r.N, actors) {
		sinks[i] = spawn(newSink(share, all.Arrived))
	}
	r.Start()
	sendAll(sinks, r.N)
	all.Wait()
	r.Stop()
}

// Block runs [Contender].Block. spawn and sendAll are as in [FanOut].
func Block[P any](r *Run, spawn func(*Sink) P, sendAll func(to []P, n int)) {
	all := NewTally(min(BlockingActors, r.N))
	actors := make([]P, BlockingActors)
	for i, share := range Split(r.N, BlockingActors) {
		sink := newSink(share, all.Arrived)
		sink.pause = BlockingTime
		actors[i] = spawn(sink)
	}
	r.Start()
	sendAll(actors, r.N)
	all.Wait()
	r.Stop()
}

// PingPong runs [Contender].PingPong. player spawns an actor that returns the ball with one throw
// less, and counts a ball without throws. serve sends the first ball.
func PingPong[P any](r *Run, pairs int, player func(all *Tally) P, serve func(to, from P, throws int)) {
	all := NewTally(pairs)
	players := make([]P, 2*pairs)
	for i := range players {
		players[i] = player(all)
	}
	r.Start()
	for i, share := range Split(r.N, pairs) {
		serve(players[2*i], players[2*i+1], max(share-1, 0))
	}
	all.Wait()
	r.Stop()
}

// Ask runs [Contender].Ask. Any goroutine may call ask.
func Ask(r *Run, askers int, ask func(i int) int) {
	askWithin(r, askers, func(loop func(ask func(i int) int)) { loop(ask) })
}

func askWithin(r *Run, askers int, enter func(loop func(ask func(i int) int))) {
	r.Start()
	r.Askers(askers, enter)
	r.Stop()
}

// SpawnAll begins [Contender].Spawn and Idle. It returns the actors, so that they are not
// collected. spawner returns a function that spawns an actor, which counts its start.
func SpawnAll[P any](r *Run, spawner func(started *Tally) (spawn func() P)) []P {
	started := NewTally(r.N)
	actors := make([]P, r.N)
	spawn := spawner(started)
	r.Start()
	for i := range actors {
		actors[i] = spawn()
	}
	started.Wait()
	return actors
}

// SpawnAndStop runs [Contender].SpawnAndStop. parent spawns an actor, and returns a function that
// makes it spawn n children, or stop them if n is 0.
func SpawnAndStop(r *Run, parent func(started, ended *Tally) (order func(n int))) {
	started, ended := NewTally(r.N), NewTally(r.N)
	order := parent(started, ended)
	r.Start()
	order(r.N)
	started.Wait()
	order(0)
	ended.Wait()
	r.Stop()
}

// Skynet runs [Contender].Skynet. root returns a function that makes a tree whose sum arrives in
// sum.
func Skynet(r *Run, root func(sum chan<- int) (grow func(leaves int))) {
	sum := make(chan int)
	grow := root(sum)
	r.Start()
	grow(r.N)
	CheckSkynet(r.N, <-sum)
	r.Stop()
}

// Timers runs [Contender].Timers. spawn spawns an actor that counts its timers when they fire.
// start makes it start that many.
func Timers[P any](r *Run, spawn func(fired *Tally) P, start func(to P, timers int)) {
	fired := NewTally(r.N)
	actors := make([]P, TimerActors)
	for i := range actors {
		actors[i] = spawn(fired)
	}
	r.Start()
	for i, share := range Split(r.N, TimerActors) {
		start(actors[i], share)
	}
	fired.Wait()
	r.StopProcessor()
}
