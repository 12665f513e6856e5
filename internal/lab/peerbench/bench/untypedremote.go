package bench

import "strings"

// between separates the two addresses of Serve.
const between = " "

// Serve implements [Contender].
func (u Untyped[C, P]) Serve(got func(payload []byte)) (address string) {
	s := u.New(true)
	sink := s.Spawn(Actor[C]{Receive: func(_ C, message any) {
		if payload, ok := s.Unpack(message); ok {
			got(payload)
		}
	}})
	adder := s.Spawn(Actor[C]{Receive: func(c C, message any) {
		if n, ok := s.Unpack(message); ok {
			s.Respond(c, s.Pack(NumberBytes(BytesNumber(n)+1)))
		}
	}})
	return s.Address(sink) + between + s.Address(adder)
}

// Dial implements [Contender].
func (u Untyped[C, P]) Dial(address string) Connection {
	s := u.New(true)
	sinkAt, adderAt, _ := strings.Cut(address, between)
	sink, adder := s.At(sinkAt), s.At(adderAt)
	return Connection{
		Send: func(payload []byte) { s.Send(sink, s.Pack(payload)) },
		Ask: func(n int) int {
			got, err := s.Ask(adder, s.Pack(NumberBytes(n)), AskTimeout)
			check(err)
			answer, ok := s.Unpack(got)
			if !ok {
				fail("answer %T", got)
			}
			return BytesNumber(answer)
		},
	}
}
