package actor

// A systemMsg is handled before all messages.
type systemMsg struct {
	kind  systemKind
	child *core
	err   error
	epoch uint32
}

type systemKind uint8

const (
	sysStart systemKind = iota
	sysStop
	sysChildEnded // the last of the awaited children
	sysEscalated  // child, err
	sysResume     // the backoff of epoch is over
	sysRest       // stop, if nothing is queued and awaited
	sysDrain      // stop, once all that is queued has been handled
)

// systemKinds are the kinds of the waiting system messages, as bits. A start is taken first, then a
// stop. Ends of children are taken last, as one, however many there were.
type systemKinds uint32

func (s *systemKinds) take(kind systemKind) (waits bool) {
	waits = *s&(1<<kind) != 0
	*s &^= 1 << kind
	return waits
}

// othersWait stands for all kinds that have more than a kind, and toldToStop remains when the stop
// has been taken.
const (
	othersWait systemKind = 16 + iota
	toldToStop
)

type systemEntry struct {
	msg    systemMsg
	before *systemEntry
}

// core.mu is held.
func (b *inbox) systemWaits() bool { return b.due&^(1<<toldToStop) != 0 }

// core.mu is held.
func (b *inbox) addSystem(msg systemMsg) {
	switch msg.kind {
	case sysStop:
		b.due |= 1<<sysStop | 1<<toldToStop
	case sysStart, sysChildEnded:
		b.due |= 1 << msg.kind
	default:
		b.due |= 1 << othersWait
		of := b.core.ownRelations()
		of.others = &systemEntry{msg, of.others}
	}
}

// core.mu is held.
func (b *inbox) takeSystem() (msg systemMsg, ok bool) {
	switch {
	case b.due.take(sysStart):
		return systemMsg{kind: sysStart}, true
	case b.due.take(sysStop):
		return systemMsg{kind: sysStop}, true
	case b.due&(1<<othersWait) != 0:
		return b.takeOldest(), true
	case b.due.take(sysChildEnded):
		return systemMsg{kind: sysChildEnded}, true
	}
	return msg, false
}

func (b *inbox) takeOldest() systemMsg {
	all := &b.core.relations.others
	at := all
	for (*at).before != nil {
		at = &(*at).before
	}
	msg := (*at).msg
	if *at = nil; *all == nil {
		b.due.take(othersWait)
	}
	return msg
}
