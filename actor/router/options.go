package router

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/options"
)

// ErrNoRoutees: this node knows no actor that is registered for the service of a [Group]. Register
// one with the same key, and send after it is listed.
var ErrNoRoutees = errors.New("router: no instance of the service is registered")

func init() {
	actor.RegisterError("understudy/router.no-routees", ErrNoRoutees)
}

// An Option chooses the routees of a message. Of several options that choose one routee, the last
// counts.
type Option func(*settings)

type settings struct {
	choice      choice
	key         any // func(M) string
	broadcast   any // func(M) bool, or nil
	preferLocal bool
	taken       []typed // what the functions of options take
}

type typed struct {
	option  string
	message reflect.Type
}

type choice int

const (
	roundRobinChoice choice = iota
	randomChoice
	smallestChoice
	hashingChoice
)

// RoundRobin sends messages to each routee in turn.
func RoundRobin() Option { return func(s *settings) { s.choice = roundRobinChoice } }

// Random sends each message to a routee chosen at random.
func Random() Option { return func(s *settings) { s.choice = randomChoice } }

// SmallestMailbox sends each message to the routee with the fewest messages of this router that are
// not handled yet, the current one included. Only a [Pool] takes it.
func SmallestMailbox() Option { return func(s *settings) { s.choice = smallestChoice } }

// ConsistentHashing sends messages of the same key to the same routee. When routees come and go,
// few keys move. key runs inside the router; a message at which it panics becomes a dead letter.
func ConsistentHashing[M any](key func(msg M) string) Option {
	return func(s *settings) {
		s.choice, s.key = hashingChoice, key
		s.taken = append(s.taken, typed{"ConsistentHashing", reflect.TypeFor[M]()})
	}
}

// Broadcast sends a message to all routees if which returns true for it. Other options choose the
// routee of the other messages. which runs inside the router; a message at which it panics becomes
// a dead letter.
func Broadcast[M any](which func(msg M) bool) Option {
	return func(s *settings) {
		s.broadcast = which
		s.taken = append(s.taken, typed{"Broadcast", reflect.TypeFor[M]()})
	}
}

// PreferLocal makes a [Group] use instances of its own node while there are any.
func PreferLocal() Option { return func(s *settings) { s.preferLocal = true } }

// configure panics if an option is for other messages than M.
func configure[M any](router string, s settings, opts []Option) settings {
	options.MustApply("router", &s, opts)
	for _, t := range s.taken {
		if t.message != reflect.TypeFor[M]() {
			panic(fmt.Sprintf("router: %s: %s takes messages of type %v, and the routees take %v", router, t.option, t.message, reflect.TypeFor[M]()))
		}
	}
	return s
}

func start[M any](s settings, system *actor.System) (logic[M], func(M) bool) {
	all, _ := s.broadcast.(func(M) bool)
	switch s.choice {
	case randomChoice:
		return &random[M]{}, all
	case smallestChoice:
		return &smallest[M]{system: system}, all
	case hashingChoice:
		return &hashing[M]{key: s.key.(func(M) string)}, all // checked by configure
	case roundRobinChoice:
	}
	return &roundRobin[M]{}, all
}
