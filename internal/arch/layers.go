package arch

// A layer is a group of packages that must not import the groups above.
type layer struct {
	name   string
	places []place
}

// A place is a package, or a group of packages, with the packages of ours that it may import. Both
// are patterns: a path below the module's root, or "path/*" for everything below it.
type place struct {
	pkg     string
	imports []string
}

// layers is the architecture. Imports run down the page: a place may import only what is below its
// line.
var layers = []layer{
	{"users", []place{
		{"examples/*", []string{anything}},
		{"internal/lab/busy", []string{anything}},      // a program for tests
		{"internal/lab/compiletime", []string{}},       // tests only
		{"internal/lab/entities", []string{anything}},  // a program, of no use to the packages below
		{"internal/lab/carts", []string{anything}},     // likewise
		{"internal/lab/failover", []string{anything}},  // the program of an example, which a module of its own runs too
		{"internal/lab/journals", []string{anything}},  // what these programs share
		{"internal/lab/fips", []string{anything}},      // tests only
		{"internal/lab/laws", nil},                     // a program, of no use to the packages below
		{"internal/lab/overload", []string{anything}},  // tests only
		{"internal/lab/orders", []string{anything}},    // as failover
		{"internal/lab/effects", []string{anything}},   // a program that a module of its own runs
		{"internal/lab/receivers", []string{anything}}, // laws, which a module of its own runs too
		{"internal/lab/reminders", []string{anything}}, // as failover
		{"internal/lab/sleepers", []string{anything}},  // a program, which a module of its own runs
		{"internal/lab/stopwatch", []string{anything}},
		{"internal/lab/workflowbench", []string{"persistence", "persistence/journal", "persistence/workflow", "actor", "internal/*"}}, // benchmarks of two modules
		{"internal/lab/testcosts", []string{"internal/*"}}, // a program, of no use to the packages below
		{"internal/lab/versions", []string{anything}},      // tests only
		{"internal/lab/processes", []string{"persistence", "persistence/journal", "actor", "internal/*"}},
		{"testkit/eventsourced", []string{"testkit", "persistence", "persistence/journal", "actor", "internal/*"}},
		{"testkit/workflowtest", []string{"testkit", "persistence/workflow", "cluster/sharding", "persistence", "persistence/journal", "actor", "internal/*"}},
		{"testkit/clustertest", []string{"testkit", "cluster", "persistence", "persistence/journal", "singleton", "actor", "internal/*"}},
	}},
	{"cluster", []place{
		{"persistence/workflow/outside", []string{"persistence/workflow", "persistence/internal/fence", "persistence/internal/sqltable"}},
		{"persistence/workflow", []string{"cluster/sharding", "cluster", "behavior", "persistence", "persistence/internal/fence", "persistence/internal/sqltable", "persistence/journal", "actor/telemetry", "actor", "internal/*"}}, // as a user would build it
		{"cluster/cron", []string{"cluster/cron/internal/calendar", "cluster/internal/journaled", "cluster", "behavior", "persistence", "persistence/journal", "singleton", "actor/telemetry", "actor", "internal/*"}},
		{"cluster/cron/internal/calendar", nil}, // when runs are due
		{"cluster/sharding", []string{"cluster/placement", "cluster/sharding/internal/allot", "cluster/sharding/internal/pace", "cluster/sharding/internal/roster", "cluster/sharding/internal/table", "cluster/internal/home", "cluster/internal/home/shell", "cluster/internal/hubs", "cluster/internal/journaled", "cluster", "behavior", "persistence", "persistence/journal", "singleton/lease", "singleton", "actor/telemetry", "actor", "remote", "internal/*"}},
		{"cluster/sharding/internal/allot", []string{"cluster/sharding/internal/table", "cluster/internal/home", "actor", "remote", "internal/*"}}, // the coordinator of shards
		{"cluster/sharding/internal/pace", []string{"internal/*"}},                                                                                 // when remembered entities start
		{"cluster/sharding/internal/roster", nil},                                                                                                  // what a shard writes about remembered entities
		{"cluster/sharding/internal/table", []string{"remote", "internal/*"}},
		{"cluster/kubernetes", []string{"cluster", "singleton", "actor"}},
		{"cluster/config", []string{"cluster", "cluster/downing", "internal/*"}},
		{"cluster/placement", []string{"cluster/internal/membership", "cluster/internal/home", "cluster/internal/home/shell", "cluster/internal/hubs", "cluster/internal/journaled", "cluster", "behavior", "persistence", "persistence/journal", "singleton", "actor/telemetry", "actor/receptionist", "actor", "remote", "internal/*"}},
		{"cluster/internal/journaled", []string{"cluster/internal/home", "behavior", "persistence", "persistence/journal", "singleton", "actor", "internal/*"}}, // the shell of coordinators
		{"cluster/internal/hubs", []string{"cluster", "actor", "remote", "internal/*"}}, // between the nodes, for messages to what moves
		{"cluster/internal/home/shell", []string{"cluster/internal/home", "cluster", "singleton", "actor", "internal/*"}},
		{"cluster/internal/home", []string{"singleton", "actor", "internal/*"}}, // what coordinators share
		{"cluster", []string{"cluster/internal/metrics", "cluster/internal/membership", "behavior", "persistence/journal", "actor/telemetry", "singleton", "singleton/lease", "internal/transport", "remote", "actor/receptionist", "actor", "cluster/downing", "cluster/internal/phi", "internal/*"}},
		{"cluster/internal/metrics", []string{"cluster/internal/membership", "actor/telemetry", "internal/*"}},
	}},
	{"catalogue", []place{
		{"behavior", []string{"persistence", "singleton", "actor/receptionist", "actor", "internal/*"}},
	}},
	{"features", []place{
		{"actor/delivery", []string{"persistence", "persistence/journal", "actor/receptionist", "actor/telemetry", "actor", "internal/*"}},
		{"actor/router", []string{"actor/receptionist", "actor/telemetry", "actor", "internal/*"}},
		{"actor/topic", []string{"actor/receptionist", "actor/telemetry", "actor", "internal/*"}},
		{"actor/receptionist", []string{"actor/telemetry", "actor", "remote", "internal/*"}},
		{"singleton", []string{"singleton/internal/handover", "singleton/internal/sequence", "singleton/lease", "persistence/journal", "actor/telemetry", "actor", "remote", "internal/*"}},
		{"singleton/internal/handover", []string{"actor", "remote", "internal/*"}},
		{"singleton/internal/sequence", []string{"remote", "internal/*"}},
		{"internal/services", []string{"actor/telemetry", "actor", "remote", "internal/*"}}, // between receptionist and cluster
		{"internal/singletons", []string{"actor", "remote", "internal/*"}},                  // between singleton and cluster
		{"internal/singletons/directory", []string{"remote", "internal/*"}},
		{"internal/singletons/wire", []string{"actor", "remote", "internal/*"}},
		{"internal/leaseholder", []string{"singleton/lease", "actor", "internal/*"}}, // between singleton, cluster and sharding
		{"internal/recall", []string{"actor", "remote", "internal/*"}},               // between singletons and shards, which move
		{"singleton/lease/leasetest", []string{"singleton/lease", "internal/*"}},
		{"persistence/journaltest", []string{"persistence/journal"}}, // its journal in memory is the model
		{"persistence/sqlite", []string{"persistence/internal/sqltable", "persistence/internal/group", "persistence/internal/instant", "persistence/journal", "internal/*"}},
		{"internal/lab/storebench", []string{"persistence", "persistence/journal", "testkit", "actor", "internal/*"}},
		{"internal/journalhistory", []string{"persistence/journal"}},
		{"persistence/internal/group", []string{"persistence/journal"}}, // postgres, which is a module of its own, uses it too
		{"persistence/internal/instant", nil},                           // as group
		{"persistence/rehearsal", []string{"persistence", "persistence/journal", "actor", "internal/*"}},
		{"persistence/projection", []string{"persistence", "persistence/internal/sqltable", "persistence/journal", "actor/telemetry", "actor", "internal/*"}},
		{"persistence", []string{"persistence/internal/envelope", "persistence/journal", "actor/telemetry", "actor", "internal/*"}},
		{"persistence/codec", []string{"persistence/internal/envelope", "persistence/internal/sqltable", "persistence/journal"}},
		{"persistence/internal/envelope", []string{"persistence/journal"}},
		{"persistence/internal/sqltable", []string{"internal/*"}},
		{"persistence/internal/fence", nil},             // as group
		{"persistence/journal", []string{"internal/*"}}, // the contract of stores
		{"internal/transport", []string{"internal/transport/outbox", "internal/transport/wire", "internal/transport/deathwatch", "remote", "actor/telemetry", "actor", "internal/*"}},
		{"internal/transport/outbox", []string{"internal/transport/wire", "remote", "actor", "internal/*"}},
		{"internal/transport/wire", []string{"remote", "internal/*"}},
		{"internal/transport/deathwatch", []string{"actor", "remote", "internal/*"}},
		{"testkit", []string{"actor", "internal/*"}},
		{"internal/telemetrytest", []string{"actor/telemetry", "actor", "internal/*"}},
		{"actor/telemetry", []string{"actor", "internal/*"}},
		{"internal/statuspage", []string{"internal/*"}},
		{"internal/volatile", []string{"actor", "internal/*"}},        // between cluster and persistence
		{"internal/inspect", []string{"actor", "internal/*"}},         // between the page and persistence
		{"internal/status", []string{"actor", "internal/*"}},          // between the page and those that it shows
		{"internal/peers", []string{"actor", "remote", "internal/*"}}, // between cluster and what sends to other nodes
	}},
	{"runtime", []place{
		{"internal/extension", []string{"actor", "internal/*"}}, // what our packages may do to a system
		{"actor", []string{"internal/*"}},
		{"actor/codec/json", nil}, // programs give it to package actor
	}},
	{"membership", []place{
		{"cluster/internal/membership", []string{"cluster/downing", "cluster/internal/phi", "remote", "internal/*"}}, // the protocol, and nothing that runs
	}},
	{"leaves", []place{
		{"cluster/downing", []string{"singleton/lease"}}, // declares what it judges: the cluster's table is above it
		{"singleton/lease", []string{"internal/*"}},
		{"remote", []string{"internal/*"}}, // the identity of nodes, keys and errors
		{"internal/*", []string{"internal/*"}},
		{"cluster/internal/phi", nil},
	}},
}

// anything is the pattern that matches every path.
const anything = "*"

// placeOf returns where the package at path stands.
func placeOf(path string) (place, bool) {
	for _, l := range layers {
		for _, p := range l.places {
			if matches(p.pkg, path) {
				return p, true
			}
		}
	}
	return place{}, false
}
