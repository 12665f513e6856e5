package sharding

import (
	"fmt"
	"strings"

	"go.uber.org/zap"
)

// A compared is a setting that may have two values, which must be comparable.
type compared struct {
	what string
	a, b any
}

// unequal returns the settings whose values differ. The format gets the setting and both values.
func unequal(format string, settings []compared) string {
	var all []string
	for _, each := range settings {
		if each.a != each.b {
			all = append(all, fmt.Sprintf(format, each.what, each.a, each.b))
		}
	}
	return strings.Join(all, ", ")
}

// warnOfOthers logs how the settings of a later start of a type differ from those of the first.
func warnOfOthers(h *hub, typ string, first, later settings) {
	if differ := changes(first, later); differ != "" {
		h.system.Log().Warn("type started again with other settings, which have no effect; give the same options each time",
			zap.String("type", typ), zap.String("differences", differ))
	}
}

// changes says which settings were others before. Of values that cannot be compared it says only
// whether there is one. A stop message is compared by its type.
func changes(was, now settings) string {
	return unequal("%s was %v and is now %v", []compared{
		{"Shards", was.shards, now.shards},
		{"Role", fmt.Sprintf("%q", was.role), fmt.Sprintf("%q", now.role)},
		{"ProxyOnly", !was.hosts, !now.hosts},
		{"PassivateAfter", was.passivate, now.passivate},
		{"MaxEntities", was.limit, now.limit},
		{"StopMessage", kindOf(was.stopMessage), kindOf(now.stopMessage)},
		{"StopTimeout", was.stopTimeout, now.stopTimeout},
		{"Buffer", was.buffer, now.buffer},
		{"Remember", was.remember, now.remember},
		{"the number of daemons", was.daemons, now.daemons},
		{"WithTimers", given(was.timers != nil), given(now.timers != nil)},
		{"WithStrategy", given(was.strategy != nil), given(now.strategy != nil)},
		{"WithLease", given(was.leases != nil), given(now.leases != nil)},
	})
}

func kindOf(msg any) string {
	if msg == nil {
		return given(false)
	}
	return fmt.Sprintf("a %T", msg)
}

func given(is bool) string {
	if is {
		return "given"
	}
	return "not given"
}
