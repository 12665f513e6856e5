package singleton

// A route is where a manager sends messages at the moment.
type route struct {
	kind routeKind
	peer PeerID // of a peer route
}

type routeKind uint8

const (
	toNobody routeKind = iota // keep them
	toInstance
	toPeer
)

// An entry is a message on its way to the instance, or a marker among them.
type entry[M any] struct {
	msg    M
	from   PeerID // the node that forwarded it; zero for one that was told here
	hops   int    // how often it was forwarded
	marker *marker
}

// A marker travels behind the messages of one node along the route they took. When it
// comes to where the instance is, all of them have arrived before it.
type marker struct {
	Origin PeerID
	Number uint64
}

// mail keeps the messages of one manager in order, and bounded. It is pure.
//
// When the route changes from one node to another, messages sent the old way may still
// be waiting there, to be forwarded. So a gate closes: what comes now is held, until a
// marker that was sent the old way has arrived; what comes back from the old way
// meanwhile goes before all that is held.
type mail[M any] struct {
	limit int
	route route

	gate    *gate
	numbers uint64

	early []entry[M] // from beyond the closed gate
	held  []entry[M]
	count int    // messages in both, without markers
	kept  uint64 // messages that have ever been kept
}

// A gate is closed until its marker has arrived, or its peer has gone.
type gate struct {
	peer   PeerID
	number uint64
}

// accept takes e. It is to be sent at once when pass is true; over is what had to give
// way.
func (q *mail[M]) accept(e entry[M]) (pass bool, over []entry[M]) {
	early := q.gate != nil && e.from == q.gate.peer
	open := q.route.kind != toNobody
	if open && (early && len(q.early) == 0 || q.gate == nil && len(q.held) == 0) {
		return true, nil
	}
	if early {
		q.early = append(q.early, e)
	} else {
		q.held = append(q.held, e)
	}
	if e.marker == nil {
		q.count++
		q.kept++
	}
	return false, q.shrink()
}

// shrink drops the oldest messages beyond the limit. Markers are not messages.
func (q *mail[M]) shrink() (over []entry[M]) {
	for q.count > q.limit {
		list := &q.early
		i := oldestMessage(*list)
		if i < 0 {
			list = &q.held
			i = oldestMessage(*list)
		}
		over = append(over, (*list)[i])
		*list = append((*list)[:i:i], (*list)[i+1:]...)
		q.count--
	}
	return over
}

func oldestMessage[M any](list []entry[M]) int {
	for i, e := range list {
		if e.marker == nil {
			return i
		}
	}
	return -1
}

// redirect changes the route. When the old one led to a node that is still there, and
// the new one leads elsewhere, the gate closes: the marker is to be sent to mark.
func (q *mail[M]) redirect(r route, last PeerID, lastIsMember bool) (mark bool) {
	q.route = r
	elsewhere := r.kind == toInstance || r.kind == toPeer && r.peer != last
	if q.gate != nil || last == (PeerID{}) || !lastIsMember || !elsewhere {
		return false
	}
	q.numbers++
	q.gate = &gate{peer: last, number: q.numbers}
	return true
}

// arrived opens the gate when its marker has come through.
func (q *mail[M]) arrived(number uint64) bool {
	if q.gate == nil || q.gate.number != number {
		return false
	}
	q.gate = nil
	return true
}

// flush returns what can be sent now, in order.
func (q *mail[M]) flush() []entry[M] {
	if q.route.kind == toNobody {
		return nil
	}
	out := q.early
	q.early = nil
	if q.gate == nil {
		out = append(out, q.held...)
		q.held = nil
	}
	for _, e := range out {
		if e.marker == nil {
			q.count--
		}
	}
	return out
}

// drain empties the mail and returns the messages that were in it.
func (q *mail[M]) drain() (rest []entry[M]) {
	for _, e := range append(q.early, q.held...) {
		if e.marker == nil {
			rest = append(rest, e)
		}
	}
	q.early, q.held, q.count = nil, nil, 0
	return rest
}
