package arch

// A reservation keeps an import from outside the module to few packages.
type reservation struct {
	imports string   // the import path, and all that is below it
	only    []string // patterns, as in a place
	tests   bool     // _test files may import it everywhere
	why     string
}

var reservations = []reservation{
	{
		imports: "github.com/hashicorp/memberlist",
		only:    []string{"cluster"},
		why:     "how membership spreads is the cluster's secret, and costs a program 3 MB",
	},
	{
		imports: "github.com/fxamacker/cbor",
		only:    []string{"internal/codec"},
		why:     "one package decides how values become bytes",
	},
	{
		imports: "testing",
		only:    testHelpers,
		tests:   true,
		why:     "a program that uses us must not carry a test framework",
	},
	{
		imports: "github.com/stretchr/testify",
		only:    testHelpers,
		tests:   true,
		why:     "a program that uses us must not carry a test framework",
	},
	{
		imports: "log",
		only:    []string{"examples/*", "internal/slogcore", "actor", "internal/lab/costs"}, // actor.SlogLogger
		why:     "a library logs to the logger that it is given, which is zap's",
	},
}

// testHelpers are the packages that are there to be imported by tests.
var testHelpers = []string{
	"testkit",
	"testkit/*",
	"internal/journalhistory",
	"internal/lab/storebench",
	"internal/lab/workflowbench",
	"internal/telemetrytest",
	"persistence/journaltest",
	"internal/browser",
	"internal/golden",
	"internal/pgtest",
	"internal/lab/processes",
	"internal/lab/receivers",
	"singleton/lease/leasetest",
}
