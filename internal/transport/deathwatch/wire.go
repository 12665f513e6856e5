package deathwatch

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/remote"
)

// These messages contain no messages of users, and a lost one is repeated.
type noPayload struct{}

func (noPayload) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

// Messages between watchers. At is the address at which the watching node has dialed the other
// node, which may have several.
type (
	wireWatch struct {
		noPayload
		_       struct{} `cbor:",toarray"`
		From    remote.NodeID
		At      string
		Fresh   bool // From watches nothing else there
		Watches []wireTarget
	}

	wireTarget struct {
		_      struct{} `cbor:",toarray"`
		Number uint64
		Path   string
		UID    uint64 // 0: whichever actor lives there
	}

	wireUnwatch struct {
		noPayload
		_       struct{} `cbor:",toarray"`
		From    remote.NodeID
		At      string
		Numbers []uint64
	}

	wireCheck struct {
		noPayload
		_     struct{} `cbor:",toarray"`
		From  remote.NodeID
		At    string
		Check uint64 // counts the checks of From
		Sum   digest
	}

	wireChecked struct {
		noPayload
		_     struct{} `cbor:",toarray"`
		From  remote.NodeID
		To    remote.NodeID
		At    string
		Check uint64
		Same  bool
	}

	wireEnded struct {
		noPayload
		_       struct{} `cbor:",toarray"`
		To      remote.NodeID
		At      string
		Numbers []uint64
	}
)

func init() {
	actor.RegisterType[wireWatch]("understudy.watch.watch")
	actor.RegisterType[wireUnwatch]("understudy.watch.unwatch")
	actor.RegisterType[wireCheck]("understudy.watch.check")
	actor.RegisterType[wireChecked]("understudy.watch.checked")
	actor.RegisterType[wireEnded]("understudy.watch.ended")
}

// An actor has ended after all that it has sent.
func (wireEnded) OvertakesNone() bool { return true }

// Sets that differ by losses have different digests, except for one in 2^64.
type digest struct {
	_     struct{} `cbor:",toarray"`
	Count int
	Sum   uint64
}

func (d *digest) add(number uint64) {
	d.Count++
	d.Sum += mix(number)
}

func (d *digest) remove(number uint64) {
	d.Count--
	d.Sum -= mix(number)
}

// mix is the last step of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
