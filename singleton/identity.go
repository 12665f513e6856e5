package singleton

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/understudy-go/understudy/singleton/internal/handover"
)

// An identity is what Spawn compares when a singleton is spawned again on a node; see
// [extension.Marked].
type identity struct {
	message reflect.Type
	set     *settings
}

// Again implements [extension.Mark]. Factories, and the values of stop messages, are not compared.
func (m identity) Again(living any) error {
	other, ok := living.(identity)
	if !ok {
		return fmt.Errorf("%w: the living actor is not a singleton", ErrMismatch)
	}
	var differences []string
	if m.message != other.message {
		differences = append(differences, fmt.Sprintf("message was %v and is now %v", other.message, m.message))
	}
	before := other.set.comparedHere()
	for i, now := range m.set.comparedHere() {
		if was := before[i]; was != now {
			differences = append(differences, fmt.Sprintf("%s was %s and is now %s", now.Name, quoted(was.Value), quoted(now.Value)))
		}
	}
	if len(differences) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s; give the same type and options each time", ErrMismatch, strings.Join(differences, ", "))
}

// PassesOptionsOn lets the instance have the mailbox and the kind that were given to Spawn, see
// [extension.PassedOptions]. The manager takes its own messages while the instance is behind.
func (identity) PassesOptionsOn() {}

func quoted(value string) string {
	if value == "" {
		return "not set"
	}
	return strconv.Quote(value)
}

// comparedHere returns the settings that must be the same each time that one node spawns the
// singleton, in a fixed order, without the message type.
func (s *settings) comparedHere() []handover.Setting {
	return []handover.Setting{
		{Name: "role", Value: s.role},
		{Name: "anchor", Value: s.anchor.String()},
		{Name: "buffer", Value: strconv.Itoa(s.buffer)},
		{Name: "expiry", Value: s.expire.String()},
		{Name: "window of AtLeastOnce", Value: strconv.Itoa(s.window)},
		{Name: "attempts", Value: strconv.Itoa(s.attempts)},
		{Name: "stop message", Value: stopName(s.stopMessage)},
		{Name: "stop timeout", Value: s.stopTimeout.String()},
		{Name: "restart backoff", Value: fmt.Sprintf("%+v", s.restart)},
		{Name: "removal margin", Value: s.margin.String()},
		{Name: "lease", Value: s.leaseName},
		{Name: "lease retry", Value: s.leaseRetry.String()},
		{Name: "generations", Value: presence(s.terms != nil)},
	}
}
