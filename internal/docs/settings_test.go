package docs

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the pages that are made from others, or from the code")

const settingsPage = "docs/guide/settings.md"

// A settingsTable is one table of the page: the fields of a struct, or the options of a package.
type settingsTable struct {
	title string
	intro string
	dir   string // of the package
	of    string // the struct, or the type of the options
	// defaults names the function whose body has the defaults; "withDefaults" of the type if it is
	// empty. presets are functions with other values, each a column.
	defaults string
	presets  []string
	values   string   // the package of these functions, if it is not dir
	extra    []string // types or functions that are shown as well
	omit     []string // settings that the introduction explains, or that only tests set
}

var commonToDowning = []string{"StableAfter", "KeepUnstable"}

var settingsTables = []settingsTable{
	{title: "cluster.Config", dir: "cluster", of: "Config", omit: []string{"Network", "Clock"}, intro: "The settings of a node, for [`cluster.Start`](../cluster.md). `Name`, `Downing`, `Leader` and, until the cluster has formed, `MinMembers` and `MinMembersOf` must be the same on all nodes."},
	{title: "cluster.Detector", dir: "cluster", of: "Detector", values: "cluster/internal/membership", defaults: "LAN", presets: []string{"WAN", "Local"}, intro: "The field `Detector` of `cluster.Config`: how quickly a silent member becomes unreachable. The presets are `cluster.LAN()`, `cluster.WAN()` and `cluster.Local()`. See [failure-detection.md](../failure-detection.md)."},
	{title: "cluster.Traffic", dir: "cluster", of: "Traffic", intro: "The field `Traffic` of `cluster.Config`: limits of messages, queues and connections."},
	{title: "cluster.ClientConfig", dir: "cluster", of: "ClientConfig", omit: []string{"Name", "Secret", "Traffic", "Network", "Logger", "SystemOptions"}, intro: "The settings of a [client](../client.md), for `cluster.Dial`. `Name`, `Secret`, `Traffic`, `Logger` and `SystemOptions` are as in `cluster.Config`."},
	{title: "downing.KeepMajority", dir: "cluster/downing", of: "KeepMajority", intro: "The default of the field `Downing` of `cluster.Config`. See [downing.md](../downing.md) for the choice. Each strategy except `Manual` has `StableAfter`, and each except `Manual` and `LeaseMajority` has `KeepUnstable`. `DownAll` has nothing else."},
	{title: "downing.StaticQuorum", dir: "cluster/downing", of: "StaticQuorum", omit: commonToDowning},
	{title: "downing.KeepOldest", dir: "cluster/downing", of: "KeepOldest", omit: commonToDowning},
	{title: "downing.KeepReferee", dir: "cluster/downing", of: "KeepReferee", omit: commonToDowning},
	{title: "downing.LeaseMajority", dir: "cluster/downing", of: "LeaseMajority", omit: commonToDowning},
	{title: "cluster.DNS", dir: "cluster", of: "DNS", intro: "Values of the field `Discovery` of `cluster.Config`. See [discovery.md](../discovery.md). `SRV` and `Kubernetes` have `Family` and `Resolver` as well."},
	{title: "cluster.SRV", dir: "cluster", of: "SRV", omit: []string{"Family", "Resolver"}},
	{title: "cluster.Kubernetes", dir: "cluster", of: "Kubernetes", omit: []string{"Family", "Resolver"}},
	{title: "Actor system", dir: "actor", of: "Option", intro: "Options of `actor.NewSystem`, and `SystemOptions` of `cluster.Config`."},
	{title: "Actor", dir: "actor", of: "SpawnOption", extra: []string{"Bounded", "DropOldest", "Block", "Prioritized"}, intro: "Options of `actor.Spawn`: the kind and the mailbox. The default mailbox is unbounded and first in, first out."},
	{title: "actor.Strategy", dir: "actor", of: "Strategy", intro: "How `behaviors.Supervise` treats failures."},
	{title: "Singleton", dir: "singleton", of: "Option", intro: "Options of [`behaviors.Singleton`](../singleton.md). Give the same ones on every node."},
	{title: "lease.Settings", dir: "singleton/lease", of: "Settings", intro: "How a [lease](../leases.md) is kept, for every store."},
	{title: "lease/etcd", dir: "singleton/lease/etcd", of: "Option"},
	{title: "lease/kubernetes", dir: "singleton/lease/kubernetes", of: "Config"},
	{title: "persistence.Options", dir: "persistence", of: "Options", defaults: "completed", intro: "Options of [`behaviors.EventSourced`](../../persistence/doc.go)."},
	{title: "persistence.StateOptions", dir: "persistence", of: "StateOptions", omit: []string{"PassivateAfter", "OnPersistFailure", "PersistTimeout", "RecoveryTimeout", "StashCapacity"}, intro: "Options of `behaviors.DurableState`. The others are as in `persistence.Options`."},
	{title: "persistence/sqlite", dir: "persistence/sqlite", of: "Option", intro: "Options of `sqlite.Open`."},
	{title: "persistence/postgres", dir: "persistence/postgres", of: "Option", intro: "Options of `postgres.Open` and `postgres.New`."},
	{title: "postgres.Leases", dir: "persistence/postgres", of: "LeasesOption", intro: "Options of `postgres.OpenLeases` and `postgres.NewLeases`."},
	{title: "persistence/jetstream", dir: "persistence/jetstream", of: "Config", intro: "The settings of `jetstream.Open`."},
	{title: "jetstream.LeasesConfig", dir: "persistence/jetstream", of: "LeasesConfig", intro: "The settings of `jetstream.OpenLeases`."},
	{title: "Projection", dir: "persistence/projection", of: "Option", intro: "Options of `projection.New` and the functions beside it."},
	{title: "Sharding", dir: "cluster/sharding", of: "Option", intro: "Options of [`sharding.Start`](../sharding.md)."},
	{title: "placement.Config", dir: "cluster/placement", of: "Config", intro: "The settings of [`placement.Start`](../placement.md)."},
	{title: "placement.Constraints", dir: "cluster/placement", of: "Constraints", intro: "The field `Constraints` of a `placement.Spec`."},
	{title: "cron.Config", dir: "cluster/cron", of: "Config", intro: "The settings of [`cron.Start`](../cron.md)."},
	{title: "cron.Entry", dir: "cluster/cron", of: "Entry", intro: "One entry of a schedule."},
	{title: "Delivery", dir: "actor/delivery", of: "Option", intro: "Options of the producers and consumers of [delivery](../delivery.md)."},
	{title: "Delivery queue", dir: "actor/delivery", of: "QueueOption", intro: "Options of `delivery.NewQueue`."},
	{title: "Router", dir: "actor/router", of: "Option", intro: "Options of routers. `RoundRobin` is the default choice."},
}

func TestThePageOfSettingsIsWhatTheCodeSays(t *testing.T) {
	var page strings.Builder
	page.WriteString(settingsHead)
	page.WriteString(environmentTable(t))
	sources := sources{}
	for _, table := range settingsTables {
		fmt.Fprintf(&page, "\n## %s\n\n", table.title)
		if table.intro != "" {
			page.WriteString(table.intro + "\n\n")
		}
		page.WriteString(table.render(t, sources))
	}
	if t.Failed() {
		return
	}
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join(root, settingsPage), []byte(page.String()), 0o644))
		return
	}
	if page.String() != read(t, settingsPage) {
		t.Errorf("%s differs from the comments and defaults in the code; go test ./internal/docs -run Settings -update writes it", settingsPage)
	}
}

const settingsHead = `# Settings

This page lists the settings of programs, with their defaults, for people who look one up. The guides say which ones to choose.

It is made from the code: the first sentence of each comment. The documentation of the package has the rest. A zero field has its default.

`

// environmentTable returns the table of the keys of package cluster/config.
func environmentTable(t *testing.T) string {
	t.Helper()
	_, doc := packageClause(t, "cluster/config")
	var table strings.Builder
	table.WriteString("## Environment and file\n\nPackage [`cluster/config`](../../cluster/config) reads these keys from environment variables with a prefix of your choice, such as `SHOP_`, or from a YAML or JSON file. See [cluster.md](../cluster.md#settings-from-the-environment-or-a-file).\n\n")
	table.WriteString("| key | variable | value | field of `cluster.Config` |\n|---|---|---|---|\n")
	_, list, found := strings.Cut(doc, "\tkey ")
	require.True(t, found)
	list, _, _ = strings.Cut(list, "\n\n")
	lines := strings.Split(list, "\n")
	value, field := strings.Index("\tkey "+lines[0], "value"), strings.Index("\tkey "+lines[0], "field")
	var rows [][3]string
	for _, line := range lines[1:] {
		line += strings.Repeat(" ", max(0, field-len(line)))
		row := [3]string{strings.TrimSpace(line[:value]), strings.TrimSpace(line[value:field]), strings.TrimSpace(line[field:])}
		if row[0] == "" {
			rows[len(rows)-1][1] += " " + row[1]
			continue
		}
		rows = append(rows, row)
	}
	require.Greater(t, len(rows), 10)
	for _, row := range rows {
		fmt.Fprintf(&table, "| `%s` | `SHOP_%s` | %s | `%s` |\n", row[0], strings.ToUpper(row[0]), row[1], row[2])
	}
	return table.String()
}
