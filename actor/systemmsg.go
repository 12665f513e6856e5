package actor

// A systemMsg changes the life of a cell. It is handled before all messages.
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

// systemMsgs are the waiting system messages. A start is taken first, then a stop. Ends of children
// are taken last, as one, however many there were.
type systemMsgs struct {
	others                  *systemEntry // newest first
	start, stop, childEnded bool
	toldToStop              bool // also after the stop has been taken
}

type systemEntry struct {
	msg    systemMsg
	before *systemEntry
}

func (s *systemMsgs) empty() bool {
	return !s.start && !s.stop && !s.childEnded && s.others == nil
}

func (s *systemMsgs) add(msg systemMsg) {
	switch msg.kind {
	case sysStart:
		s.start = true
	case sysStop:
		s.stop, s.toldToStop = true, true
	case sysChildEnded:
		s.childEnded = true
	default:
		s.others = &systemEntry{msg, s.others}
	}
}

func (s *systemMsgs) take() (msg systemMsg, ok bool) {
	switch {
	case s.start:
		s.start = false
		return systemMsg{kind: sysStart}, true
	case s.stop:
		s.stop = false
		return systemMsg{kind: sysStop}, true
	case s.others != nil:
		return s.takeOldest(), true
	case s.childEnded:
		s.childEnded = false
		return systemMsg{kind: sysChildEnded}, true
	}
	return msg, false
}

func (s *systemMsgs) takeOldest() systemMsg {
	at := &s.others
	for (*at).before != nil {
		at = &(*at).before
	}
	msg := (*at).msg
	*at = nil
	return msg
}
