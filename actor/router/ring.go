package router

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/understudy-go/understudy/actor"
)

// virtualNodes is the number of points of each routee on the ring. With so many the shares are
// similar: the largest of ten is about 1.2 times the mean.
const virtualNodes = 128

// A ring is a circle of numbers on which each key belongs to the next point of a routee. It depends
// only on the paths of routees, so equal sets of routees make equal rings on all nodes.
type ring[M any] []place[M]

type place[M any] struct {
	at     uint64
	routee actor.ActorRef[M]
}

func newRing[M any](routees []actor.ActorRef[M]) ring[M] {
	r := make(ring[M], 0, virtualNodes*len(routees))
	for _, routee := range routees {
		path := routee.Path()
		for i := range virtualNodes {
			r = append(r, place[M]{hash(path + "#" + strconv.Itoa(i)), routee})
		}
	}
	slices.SortFunc(r, func(a, b place[M]) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.routee.Path(), b.routee.Path()))
	})
	return r
}

// The ring must not be empty.
func (r ring[M]) of(key string) actor.ActorRef[M] {
	i, _ := slices.BinarySearchFunc(r, hash(key), func(p place[M], at uint64) int { return cmp.Compare(p.at, at) })
	return r[i%len(r)].routee
}

// hash is the same in every process. FNV alone puts similar keys side by side, so its bits are
// mixed.
func hash(key string) uint64 {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(key)) // never fails
	x := sum.Sum64()
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
