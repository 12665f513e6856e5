package clustertest

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Kind is a kind of fault.
type Kind string

// The kinds of faults, with the fields that each needs besides At and For.
const (
	Partition Kind = "partition" // Sides
	OneWay    Kind = "oneway"    // two Sides of one node each: the first cannot reach the second
	Isolate   Kind = "isolate"   // one Side of one node
	Crash     Kind = "crash"     // one Side of one node, which starts again afterwards
	Leave     Kind = "leave"     // one Side of one node, which joins again afterwards
	Pause     Kind = "pause"     // one Side of one node
	Delay     Kind = "delay"     // Time: everything takes that long, and up to half as much more
	Lose      Kind = "lose"      // Amount: the share of datagrams
	Duplicate Kind = "duplicate" // Amount: the share of datagrams
	Drift     Kind = "drift"     // one Side of one node; Amount: the rate of its clock
	Jump      Kind = "jump"      // one Side of one node; Time: how far its wall clock is set forward, for good
)

// A Fault is one thing that goes wrong for a while. Faults may overlap.
type Fault struct {
	At     time.Duration // since the beginning
	Kind   Kind
	Sides  [][]string    // names of nodes
	Amount float64       // see Kind: not every kind has one
	Time   time.Duration // see Kind: not every kind has one
	For    time.Duration // how long it lasts
}

// String returns the fault as [ParseSchedule] reads it: "3.2s partition n1,n2 | n3 for 12s".
func (f Fault) String() string {
	words := []string{f.At.String(), string(f.Kind)}
	if len(f.Sides) > 0 {
		words = append(words, f.sides())
	}
	switch f.Kind {
	case Lose, Duplicate, Drift:
		words = append(words, strconv.FormatFloat(f.Amount, 'g', -1, 64))
	case Delay, Jump:
		words = append(words, f.Time.String())
	case Partition, OneWay, Isolate, Crash, Leave, Pause:
	}
	return strings.Join(append(words, "for", f.For.String()), " ")
}

func (f Fault) sides() string {
	var sides []string
	for _, s := range f.Sides {
		sides = append(sides, strings.Join(s, ","))
	}
	if f.Kind == OneWay {
		return strings.Join(sides, " -> ")
	}
	return strings.Join(sides, " | ")
}

// The fault is one of one node.
func (f Fault) node() string { return f.Sides[0][0] }

// A Schedule is the faults of one run, by time.
type Schedule []Fault

// String returns the schedule with one fault per line.
func (s Schedule) String() string {
	var b strings.Builder
	for _, f := range s {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

func (s Schedule) end() (end time.Duration) {
	for _, f := range s {
		end = max(end, f.At+f.For)
	}
	return end
}

// ParseSchedule parses the text of [Schedule.String]. Semicolons may separate lines as well. The
// empty text is the empty schedule, which is not nil.
func ParseSchedule(text string) (Schedule, error) {
	s := Schedule{}
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == ';' }) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		f, err := parseFault(strings.Fields(line))
		if err != nil {
			return nil, fmt.Errorf("clustertest: %q is not a fault such as \"3s crash n1 for 5s\": %w", strings.TrimSpace(line), err)
		}
		s = append(s, f)
	}
	return s, nil
}

func parseFault(words []string) (f Fault, err error) {
	last := len(words) - 1
	if last < 3 || words[last-1] != "for" {
		return f, fmt.Errorf("it has no time, kind and duration")
	}
	f.Kind = Kind(words[1])
	if f.At, err = time.ParseDuration(words[0]); err != nil {
		return f, err
	}
	if f.For, err = time.ParseDuration(words[last]); err != nil {
		return f, err
	}
	args := words[2 : last-1]
	switch f.Kind {
	case Lose, Duplicate, Drift, Delay, Jump:
		if len(args) == 0 {
			return f, fmt.Errorf("%s needs an amount", f.Kind)
		}
		if err := f.parseAmount(args[len(args)-1]); err != nil {
			return f, err
		}
		args = args[:len(args)-1]
	case Partition, OneWay, Isolate, Crash, Leave, Pause:
	default:
		return f, fmt.Errorf("there is no kind %q", f.Kind)
	}
	for _, side := range args {
		if side != "|" && side != "->" {
			f.Sides = append(f.Sides, strings.Split(side, ","))
		}
	}
	return f, f.validate()
}

func (f *Fault) parseAmount(word string) (err error) {
	if f.Kind == Delay || f.Kind == Jump {
		f.Time, err = time.ParseDuration(word)
	} else {
		f.Amount, err = strconv.ParseFloat(word, 64)
	}
	return err
}

func (f Fault) validate() error {
	want := 1
	switch f.Kind {
	case Partition:
		want = max(1, len(f.Sides))
	case OneWay:
		want = 2
	case Delay, Lose, Duplicate:
		want = 0
	case Isolate, Crash, Leave, Pause, Drift, Jump:
	default:
		return fmt.Errorf("there is no kind %q", f.Kind)
	}
	if len(f.Sides) != want {
		return fmt.Errorf("%s takes %d sides, not %d", f.Kind, want, len(f.Sides))
	}
	if f.Kind == Drift && f.Amount <= 0 {
		return fmt.Errorf("a clock cannot run at a rate of %v", f.Amount)
	}
	return nil
}
