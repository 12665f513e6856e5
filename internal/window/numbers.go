package window

import "maps"

// Numbers is the set of all numbers up to one, and some after it. The zero Numbers is empty.
type Numbers struct {
	upTo   uint64
	beyond map[uint64]struct{} // none is upTo+1 or less
}

// UpTo returns the highest number before which, itself included, none is missing.
func (s *Numbers) UpTo() uint64 { return s.upTo }

// Has reports whether number is in the set.
func (s *Numbers) Has(number uint64) bool {
	_, ok := s.beyond[number]
	return ok || number <= s.upTo
}

// Add adds one number.
func (s *Numbers) Add(number uint64) {
	switch {
	case number == s.upTo+1:
		s.AddUpTo(number)
	case number > s.upTo:
		if s.beyond == nil {
			s.beyond = make(map[uint64]struct{})
		}
		s.beyond[number] = struct{}{}
	}
}

// AddUpTo adds all numbers up to one.
func (s *Numbers) AddUpTo(number uint64) {
	if number <= s.upTo {
		return
	}
	if number > s.upTo+1 {
		maps.DeleteFunc(s.beyond, func(n uint64, _ struct{}) bool { return n <= number })
	}
	for s.upTo = number; ; s.upTo++ {
		if _, ok := s.beyond[s.upTo+1]; !ok {
			return
		}
		delete(s.beyond, s.upTo+1)
	}
}
