package metrics

import (
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"

	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/cluster/internal/membership"
)

// A State is what a node knows at one moment, beside its counters.
type State struct {
	View    membership.View
	Skipped map[string]uint64 // messages of unknown kinds, by kind
}

// Families returns the metrics of a node.
func Families(s State, c *Counters) []telemetry.Family {
	return slices.Concat(ofMembers(s.View), ofProgram(s), c.families())
}

// statuses have a series even with value 0, so that a series does not end.
var statuses = []membership.Status{membership.Joining, membership.Up, membership.Leaving, membership.Exiting, membership.Down}

func ofMembers(v membership.View) []telemetry.Family {
	count := func(is func(membership.Member) bool) (n float64) {
		for _, m := range v.Members {
			if is(m) {
				n++
			}
		}
		return n
	}
	byStatus := telemetry.NewGauge("understudy_members", "Members of the cluster as this node sees it, by status.", "status")
	for _, status := range statuses {
		byStatus.Add(count(func(m membership.Member) bool { return m.Status == status }), status.String())
	}
	byVersion := telemetry.NewGauge("understudy_members_up_by_app_version", "Members that are up, by the version of their application.", "app_version")
	for _, version := range v.AppVersions() {
		byVersion.Add(count(func(m membership.Member) bool { return m.Status == membership.Up && m.AppVersion == version }), version)
	}
	unreachable := telemetry.NewGauge("understudy_members_unreachable", "Members that at least one member does not hear from.").With(float64(len(v.Unreachable())))
	converged := telemetry.NewGauge("understudy_converged", "1 while all members are reachable and agree on the membership.").With(telemetry.Bool(v.Converged))
	return []telemetry.Family{byStatus, byVersion, unreachable, converged}
}

func ofProgram(s State) []telemetry.Family {
	info := telemetry.NewGauge("understudy_build_info", "1, for the versions of the application, of the protocol between members, and of Go.", "app_version", "wire", "go").With(1, s.View.Self.AppVersion, strconv.FormatUint(membership.Version, 10), runtime.Version())
	skipped := telemetry.NewCounter("understudy_skipped_messages_total", "Messages of newer releases that this node has skipped because it does not know their kind.", "kind")
	for _, kind := range slices.Sorted(maps.Keys(s.Skipped)) {
		skipped.Add(float64(s.Skipped[kind]), kind)
	}
	return []telemetry.Family{info, skipped}
}

func (c *Counters) families() []telemetry.Family {
	changed := telemetry.NewCounter("understudy_membership_changes_total", "Changes of the membership that this node has seen.", "change")
	for i, change := range changes {
		changed.Add(float64(c.changes[i].Load()), change)
	}
	decided := telemetry.NewCounter("understudy_downing_decisions_total", "Decisions of this node to down members.", "decision")
	for i, d := range decisions {
		decided.Add(float64(c.decisions[i].Load()), string(d))
	}
	incarnations := telemetry.NewCounter("understudy_incarnations_total", "Incarnations of this node since its process started; each after the first has followed a removal.").With(float64(c.incarnations.Load()))
	phi := telemetry.NewGauge("understudy_heartbeat_phi_max", "Highest phi of the members that this node observes: the suspicion that a member is dead.").With(math.Float64frombits(c.phi.Load()))
	return []telemetry.Family{changed, decided, incarnations, phi}
}
