package metrics

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/actor/router"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/actor/telemetry/telemetrytest"
	"github.com/understudy-go/understudy/actor/topic"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/deliveryqueue"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/memory"
	"github.com/understudy-go/understudy/persistence/projection"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

type word struct{ Text string }

func init() { actor.RegisterType[word]("metrics_test.word") }

// ignoring is the behavior of actors that only count.
func ignoring(*actor.Context[word], word) actor.Behavior[word] { return behaviors.Same }

// storing is an event-sourced actor that stores each word.
func storing(id string, j persistence.Journal) actor.Behavior[word] {
	return behaviors.EventSourced(id, j, word{},
		func(_ word, event word) word { return event },
		func(_ *actor.Context[word], _ word, cmd word) persistence.Effect[word] {
			return persistence.Persist(cmd)
		},
		persistence.Options[word, word, word]{SnapshotEvery: 1})
}

// useAll makes a node use every package that has metrics.
func useAll(t *testing.T, n, other *cluster.Node) {
	t.Helper()
	j := memory.New()
	actor.Spawn(n, storing("words", j), "stored").Tell(word{"a"})
	actor.Spawn(n, projection.New("words", j, journal.Query{},
		projection.AtLeastOnce(&projection.MemoryOffsets{}, func(context.Context, projection.Event[word]) error { return nil })).Behavior(), "projection")

	key := receptionist.NewKey[word]("words")
	actor.Spawn(other, behaviors.Discoverable(key, behaviors.Receive(ignoring)), "instance")
	actor.Spawn(n, behaviors.Singleton(func() actor.Behavior[word] { return behaviors.Receive(ignoring) }), "singleton").Tell(word{"a"})
	time.Sleep(time.Second)
	actor.Spawn(n, router.Group(key), "group").Tell(word{"to the other node"})

	words := topic.New[word]("words")
	words.Subscribe(n.System, actor.Spawn(n, behaviors.Receive(ignoring), "subscriber"))
	words.Publish(n.System, word{"a"})

	producer := actor.Spawn(n, delivery.Producer[word](delivery.WithQueue(deliveryqueue.New("queue", j))), "producer")
	producer.Tell(delivery.Send[word]{Message: word{"a"}})
	actor.Resolve[word](n.System, "/user/nobody").Tell(word{"lost"})
	time.Sleep(time.Second)
}

// families are those that a node must have when all packages are in use, with their labels.
var families = map[string]string{
	"understudy_actors":                          "kind",
	"understudy_messages_processed_total":        "kind",
	"understudy_dead_letters_total":              "reason",
	"understudy_services":                        "",
	"understudy_service_instances":               "place",
	"understudy_topic_published_total":           "topic",
	"understudy_topic_subscribers":               "topic",
	"understudy_router_routees":                  "message_type",
	"understudy_router_dropped_total":            "message_type",
	"understudy_delivery_unconfirmed":            "message_type",
	"understudy_delivery_resent_total":           "message_type",
	"understudy_delivery_refused_total":          "message_type",
	"understudy_delivery_given_up_total":         "message_type",
	"understudy_journal_append_seconds":          "journal",
	"understudy_journal_claim_seconds":           "journal",
	"understudy_journal_read_seconds":            "journal",
	"understudy_journal_appended_events_total":   "journal",
	"understudy_journal_errors_total":            "journal,error",
	"understudy_recovery_seconds":                "",
	"understudy_recovery_failures_total":         "",
	"understudy_recoveries_waiting":              "",
	"understudy_recovered_events_total":          "",
	"understudy_snapshots_saved_total":           "",
	"understudy_snapshot_failures_total":         "",
	"understudy_projection_lag_seconds":          "projection",
	"understudy_projection_events_total":         "projection",
	"understudy_projection_skipped_events_total": "projection",
	"understudy_projection_failures_total":       "projection",
	"understudy_projection_stalled":              "projection",
	"understudy_projection_held_ids":             "projection",
	"understudy_remote_links":                    "channel,state",
	"understudy_remote_queue_messages":           "channel",
	"understudy_remote_queue_messages_max":       "channel",
	"understudy_remote_sent_messages_total":      "channel",
	"understudy_remote_sent_bytes_total":         "channel",
	"understudy_remote_resent_total":             "channel",
	"understudy_remote_received_messages_total":  "channel",
	"understudy_remote_received_bytes_total":     "channel",
	"understudy_remote_undecodable_total":        "",
	"understudy_remote_refused_total":            "reason",
}

func TestThePageOfMetricsNamesThemAll(t *testing.T) {
	page, err := os.ReadFile("../../../docs/metrics.md")
	require.NoError(t, err)
	for name, labels := range families {
		switch name {
		case "understudy_actors", "understudy_messages_processed_total", "understudy_dead_letters_total":
			continue // on the page of the status
		}
		if labels != "" {
			name += "{" + labels + "}"
		}
		require.Contains(t, string(page), "`"+name+"`")
	}
}

func TestTheNamesOfAllMetricsFollowTheRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2)
		n := c.Node("n1")
		useAll(t, n, c.Node("n2"))
		telemetrytest.Check(t, n.System)
		telemetrytest.Check(t, c.Node("n2").System)
		all := telemetry.Gather(n.System)
		for name, labels := range families {
			i := slices.IndexFunc(all, func(f telemetry.Family) bool { return f.Name == name })
			require.GreaterOrEqual(t, i, 0, "%s is missing", name)
			require.Equal(t, labels, strings.Join(all[i].Labels, ","), name)
			require.NotEmpty(t, all[i].Series, name)
		}
		for _, f := range all {
			for _, s := range f.Series {
				for _, label := range s.Labels {
					require.NotContains(t, label, "/user/", "%s: the value of a label is no path", f.Name)
					require.NotContains(t, label, "7355", "%s: the value of a label is no address", f.Name)
				}
			}
		}
	})
}
