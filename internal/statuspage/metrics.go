package statuspage

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// metrics answers with the numbers of a snapshot, in the text format of Prometheus.
func (h *handler) metrics(w http.ResponseWriter, r *http.Request) {
	h.source.Refresh(r.Context())
	s, _ := h.source.Snapshot()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_ = s.writeMetrics(w) // the client may be gone
}

// A metric is a family of samples that differ in their labels.
type metric struct {
	name, kind, help string
	samples          func(add sampler)
}

// A sampler adds a sample. labels alternates names and values.
type sampler func(value uint64, labels ...string)

// statuses and phases have a sample even with value 0, so that a series does not end.
var (
	statuses = []string{"joining", "up", "leaving", "exiting", "down"}
	phases   = []string{"pending", "standby", "asking", "acquiring", "host", "handing over", "stopping", "ended"}
)

func (s Snapshot) writeMetrics(to io.Writer) error {
	w := bufio.NewWriter(to) // it keeps the first error
	for _, m := range slices.Concat(s.ofMembers(), s.ofActors(), s.ofSingletons(), s.ofHosts()) {
		_, _ = fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", m.name, escapeHelp(m.help), m.name, m.kind)
		m.samples(func(value uint64, labels ...string) {
			_, _ = fmt.Fprintf(w, "%s%s %d\n", m.name, labelled(labels), value)
		})
	}
	return w.Flush()
}

func (s Snapshot) ofMembers() []metric {
	count := func(is func(Member) bool) (n uint64) {
		for _, m := range s.Members {
			n += oneIf(is(m))
		}
		return n
	}
	return []metric{
		{"understudy_members", "gauge", "Members of the cluster as this node sees it, by status.", func(add sampler) {
			for _, status := range statuses {
				add(count(func(m Member) bool { return m.Status == status }), "status", status)
			}
		}},
		{"understudy_members_unreachable", "gauge", "Members that at least one member cannot reach.", func(add sampler) {
			add(count(func(m Member) bool { return !m.Reachable }))
		}},
		{"understudy_members_up_by_app_version", "gauge", "Members that are up, by the version of their application.", func(add sampler) {
			for _, version := range s.AppVersions {
				add(count(func(m Member) bool { return m.Status == "up" && m.AppVersion == version }), "app_version", version)
			}
		}},
		{"understudy_skipped_messages_total", "counter", "Messages of newer releases that this node has skipped because it does not know their kind.", func(add sampler) {
			for _, kind := range slices.Sorted(maps.Keys(s.Skipped)) {
				add(s.Skipped[kind], "kind", kind)
			}
		}},
		{"understudy_converged", "gauge", "1 while all members are reachable and agree on the membership.", func(add sampler) {
			add(oneIf(s.Converged))
		}},
	}
}

// ofActors returns what the system of this node counts: actors by kind, and dead letters by reason.
func (s Snapshot) ofActors() []metric {
	each := func(value func(Kind) uint64) func(sampler) {
		return func(add sampler) {
			for _, k := range s.Kinds {
				add(value(k), "kind", k.Name)
			}
		}
	}
	return []metric{
		{"understudy_actors", "gauge", "Actors on this node, by kind.", each(func(k Kind) uint64 { return k.Actors })},
		{"understudy_actors_started_total", "counter", "Actors that have been spawned.", each(func(k Kind) uint64 { return k.Started })},
		{"understudy_actors_stopped_total", "counter", "Actors that have ended, for whatever reason.", each(func(k Kind) uint64 { return k.Stopped })},
		{"understudy_actor_failures_total", "counter", "Failures of actors, whatever supervision has decided.", each(func(k Kind) uint64 { return k.Failures })},
		{"understudy_actor_restarts_total", "counter", "Restarts of actors by supervision.", each(func(k Kind) uint64 { return k.Restarts })},
		{"understudy_messages_processed_total", "counter", "Messages that actors have handled.", each(func(k Kind) uint64 { return k.Messages })},
		{"understudy_dead_letters_total", "counter", "Messages that could not be delivered, by reason.", func(add sampler) {
			for _, reason := range slices.Sorted(maps.Keys(s.DeadLetters)) {
				add(s.DeadLetters[reason], "reason", reason)
			}
		}},
	}
}

func (s Snapshot) ofSingletons() []metric {
	where := func(is func(Singleton) bool, value func(Singleton) uint64) func(sampler) {
		return func(add sampler) {
			for _, one := range s.Singletons {
				if one.Phase != "" && is(one) { // without a phase there is no manager here
					add(value(one), "singleton", one.Name)
				}
			}
		}
	}
	each := func(value func(Singleton) uint64) func(sampler) {
		return where(func(Singleton) bool { return true }, value)
	}
	leased := func(one Singleton) bool { return one.Lease != "" }
	return []metric{
		{"understudy_singleton_hosted", "gauge", "1 while the instance runs on this node.", each(func(one Singleton) uint64 { return oneIf(one.Here) })},
		{"understudy_singleton_phase", "gauge", "1 for the phase of the manager on this node.", func(add sampler) {
			for _, one := range s.Singletons {
				for _, phase := range phases {
					if one.Phase != "" {
						add(oneIf(one.Phase == phase), "singleton", one.Name, "phase", phase)
					}
				}
			}
		}},
		{"understudy_singleton_generation_term", "gauge", "Term of the instance on this node, or of the last one; 0 before the first.", each(func(one Singleton) uint64 { return one.GenerationTerm })},
		{"understudy_singleton_generation_seq", "gauge", "Number of that instance within its term.", each(func(one Singleton) uint64 { return one.GenerationSeq })},
		{"understudy_singleton_lease_held", "gauge", "1 while this node holds the lease; only for singletons that have one.", where(leased, func(one Singleton) uint64 { return oneIf(one.LeaseHeld) })},
		{"understudy_singleton_mismatch", "gauge", "1 while the singleton on this node differs from that on the other nodes, and is therefore inactive.", each(func(one Singleton) uint64 { return oneIf(one.Mismatch != "") })},
		{"understudy_singleton_held_messages", "gauge", "Messages buffered on this node.", each(func(one Singleton) uint64 { return uint64(one.Held) })},
		{"understudy_singleton_unacknowledged_messages", "gauge", "Messages sent on this node with AtLeastOnce that have not been acknowledged.", each(func(one Singleton) uint64 { return uint64(one.Unacknowledged) })},
		{"understudy_singleton_dropped_messages_total", "counter", "Messages dropped on this node because a buffer was full.", each(func(one Singleton) uint64 { return one.Dropped })},
		{"understudy_singleton_starts_total", "counter", "Instances that have started on this node.", each(func(one Singleton) uint64 { return one.Starts })},
		{"understudy_singleton_failures_total", "counter", "Instances that have failed on this node.", each(func(one Singleton) uint64 { return one.Failures })},
	}
}

// ofHosts returns the metrics that the hosts of singletons report. They are the same on each node.
func (s Snapshot) ofHosts() []metric {
	names := map[string]string{}
	for _, m := range s.Members {
		names[m.ID] = m.Name
	}
	atHost := func(value func(Singleton) uint64) func(sampler) {
		return func(add sampler) {
			for _, one := range s.Singletons {
				if one.AtHost != nil {
					add(value(one), "singleton", one.Name, "host", cmp.Or(names[one.AtHost.Member], one.AtHost.Member))
				}
			}
		}
	}
	nowhere := func(add sampler) {
		for _, one := range s.Singletons {
			if one.AtHost != nil || one.Nowhere {
				add(oneIf(one.Nowhere), "singleton", one.Name)
			}
		}
	}
	return []metric{
		{"understudy_singleton_host_starts_total", "counter", "Instances that have started on the host, as it says; the same on every node.", atHost(func(one Singleton) uint64 { return one.AtHost.Starts })},
		{"understudy_singleton_host_failures_total", "counter", "Instances that have failed on the host, as it says; the same on every node.", atHost(func(one Singleton) uint64 { return one.AtHost.Failures })},
		{"understudy_singleton_host_restarts_in_a_row", "gauge", "How often in a row the instance has ended on the host before it had run well.", atHost(func(one Singleton) uint64 { return uint64(one.AtHost.RestartsInARow) })}, //nolint:gosec // it is a count
		{"understudy_singleton_crash_loop", "gauge", "1 while the instance ends again and again on the host before it has run well.", atHost(func(one Singleton) uint64 { return oneIf(one.CrashLoop) })},
		{"understudy_singleton_nowhere", "gauge", "1 while no member can host the singleton.", nowhere},
		{"understudy_singleton_figures_left_out", "gauge", "Singletons of which their hosts tell nothing, as they have too many.", func(add sampler) { add(uint64(s.FiguresLeftOut)) }}, //nolint:gosec // it is a count
		{"understudy_singleton_hosts_unanswered", "gauge", "Members that have told nothing of the singletons that they host.", func(add sampler) { add(uint64(len(s.Unanswered))) }},
	}
}

func oneIf(yes bool) uint64 {
	if yes {
		return 1
	}
	return 0
}

var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

func escapeHelp(s string) string { return helpEscapes.Replace(s) }

// labelled returns the part of a sample in braces. It replaces what is not valid UTF-8, because a
// scraper would reject the whole answer.
func labelled(labels []string) string {
	if len(labels) == 0 {
		return ""
	}
	var b strings.Builder
	for i := 0; i < len(labels); i += 2 {
		sep := ","
		if i == 0 {
			sep = "{"
		}
		fmt.Fprintf(&b, `%s%s="%s"`, sep, labels[i], labelEscapes.Replace(strings.ToValidUTF8(labels[i+1], "\uFFFD")))
	}
	return b.String() + "}"
}
