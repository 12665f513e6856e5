// Package circle finds those that wait for each other. It is pure.
package circle

// An Edge says that From waits for To.
type Edge[K comparable] struct{ From, To K }

// Of returns circles of edges: the first waits for the second, and so on, and the last for the
// first. One that waits for itself is a circle of one. If nobody waits for more than one, these are
// all circles. Otherwise there may be more, but never one none of whose edges is in those returned.
// The order depends on the order of edges only.
func Of[K comparable](edges []Edge[K]) (all [][]K) {
	s := search[K]{next: map[K][]K{}, place: map[K]int{}}
	for _, e := range edges {
		s.next[e.From] = append(s.next[e.From], e.To)
	}
	for _, e := range edges {
		s.from(e.From)
	}
	return s.found
}

// A search walks along edges, in depth, without recursion: a chain may be long.
type search[K comparable] struct {
	next  map[K][]K
	place map[K]int // 1 and up for those on the way, done for those that have been left
	way   []K
	found [][]K
}

const done = -1

func (s *search[K]) from(begin K) {
	if s.place[begin] != 0 {
		return
	}
	s.enter(begin)
	for len(s.way) > 0 {
		at := s.way[len(s.way)-1]
		if len(s.next[at]) == 0 {
			s.place[at] = done
			s.way = s.way[:len(s.way)-1]
			continue
		}
		to := s.next[at][0]
		s.next[at] = s.next[at][1:]
		switch place := s.place[to]; place {
		case 0:
			s.enter(to)
		case done:
		default:
			s.found = append(s.found, append([]K(nil), s.way[place-1:]...))
		}
	}
}

func (s *search[K]) enter(k K) {
	s.way = append(s.way, k)
	s.place[k] = len(s.way)
}
