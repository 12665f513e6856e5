package singleton

import "fmt"

// silence explains that of singletons, see [extension.OnAskTimeout].
func (b *board) silence(path string) error {
	s, ok := b.read(nameOf(path))
	switch {
	case !ok:
		return nil
	case s.Phase == Ended:
		return ErrFinished
	case s.Why != "":
		return fmt.Errorf("%w: %s", ErrUnavailable, s.Why)
	case s.Phase == Standby && s.Held > 0:
		return fmt.Errorf("%w: its host %s does not take messages yet", ErrUnavailable, s.Host)
	}
	return nil
}
