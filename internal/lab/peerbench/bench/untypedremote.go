package bench

import "strings"

// between separates the addresses of Serve.
const between = " "

// Serve implements [Contender].
func (u Untyped[C, P]) Serve(sinks []func(payload []byte)) (address string) {
	s := u.New(true)
	adder := s.Spawn(Actor[C]{Receive: func(c C, message any) {
		if n, ok := s.Unpack(message); ok {
			s.Respond(c, s.Pack(NumberBytes(BytesNumber(n)+1)))
		}
	}})
	address = s.Address(adder)
	for _, got := range sinks {
		address += between + s.Address(s.Spawn(Actor[C]{Receive: func(_ C, message any) {
			if payload, ok := s.Unpack(message); ok {
				got(payload)
			}
		}}))
	}
	return address
}

// Dial implements [Contender].
func (u Untyped[C, P]) Dial(address string) Connection {
	s := system[C, P]{u.New(true)}
	var all []P
	for at := range strings.SplitSeq(address, between) {
		all = append(all, s.At(at))
	}
	adder, sinks := all[0], all[1:]
	return Connection{
		Send: func(to int, payload []byte) { s.Send(sinks[to], s.Pack(payload)) },
		Enter: func(loop func(ask func(n int) int)) {
			s.enter(func(ask AskFunc[P]) {
				loop(func(n int) int {
					got, err := ask(adder, s.Pack(NumberBytes(n)), AskTimeout)
					check(err)
					answer, ok := s.Unpack(got)
					if !ok {
						fail("answer %T", got)
					}
					return BytesNumber(answer)
				})
			})
		},
	}
}
