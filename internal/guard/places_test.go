package guard_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// places are all functions in which code of the user's is called outside of the turn of an
// actor, which guards what handlers call, or where a panic must not be a failure of the actor.
var places = map[string]string{
	"actor/adapter.go Adapt":                                 "the function of an adapter",
	"actor/ask.go askWithin":                                 "the function that makes a request",
	"actor/silence.go silence":                               "the function of OnAskTimeout",
	"actor/askwatch.go outcomeOf":                            "Is and As of the error of an ask",
	"actor/tracing.go recover":                               "the methods of a tracer, and what ends its spans",
	"actor/halt.go Halt":                                     "the functions of OnHalt",
	"actor/remotewatch.go watchedEnded":                      "the functions of AfterEnd and OnEnd",
	"actor/cell.go turn":                                     "behaviors, handlers, interceptors: the actor fails",
	"actor/codec/json/methods.go standsFor":                  "MarshalJSON and MarshalText, of an empty value of a type that is registered",
	"actor/deadletter.go carriedBy":                          "Carried of a dead letter",
	"actor/localencoding.go isLocal":                         "LocalOnly of a message",
	"actor/deadletter.go note":                               "Is of the reason of a dead letter",
	"actor/deadletter_lines.go describeDeadLetter":           "Error of the reason of a dead letter",
	"actor/deliver.go run":                                   "a handler whose sender is told how it went",
	"actor/deliver.go tell":                                  "the function that is told",
	"internal/payload/error.go PackError":                    "Error, Is and Unwrap of an error that goes to another node",
	"actor/supervision.go isFinal":                           "Is, As and Final of the reason of a failure",
	"actor/spawn.go checkAdmission":                          "the admission check of an actor",
	"actor/lifecycle.go reportRest":                          "the admission check of an actor, at its end",
	"actor/lifecycle.go guard":                               "what is called at the end of an actor, and supervision deciders",
	"actor/pipetoself.go pipe":                               "a function in the background",
	"actor/router/logic.go orDrop":                           "the functions of a router's options",
	"actor/shutdowntask.go call":                             "a task of a shutdown",
	"actor/shutdowntask.go noteTask":                         "Is of the error of a task",
	"cluster/resend.go resendLetter":                         "Error of the reason of a dead letter",
	"cluster/states.go ShowStates":                           "the function that hides fields",
	"internal/inspect/show.go textOf":                        "MarshalText and String of what an entity has stored",
	"internal/inspect/portrait.go ownText":                   "MarshalText of what an actor has stored",
	"persistence/rehearsal/part.go Of":                       "the function that returns a behavior",
	"persistence/rehearsal/serve.go serve":                   "the function that opens a journal",
	"persistence/rehearsal/server.go decodeAll":              "Error of what keeps an event from being decoded",
	"persistence/rehearsal/server.go fill":                   "Error of what keeps an actor from being tried",
	"persistence/rehearsal/server.go try":                    "Error of what keeps a file from being written",
	"persistence/rehearsal/server.go value":                  "the decoding of an event",
	"persistence/trial.go applied":                           "Error of the panic of an event handler",
	"persistence/trial.go appliedTo":                         "the event handler, tags, and what is stored for an event",
	"persistence/trial.go decoded":                           "the decoding of an event, and an adapter",
	"persistence/trial.go event":                             "Error of what keeps an event from being decoded",
	"persistence/trial.go lastState":                         "the decoding of a state",
	"persistence/trial.go loadSnapshots":                     "Error of what keeps a snapshot from being decoded",
	"persistence/trial.go loadTimers":                        "the decoding of the message of a timer",
	"persistence/trial.go run":                               "Error of a journal",
	"persistence/workflow/run.go guarded":                    "the function of a workflow",
	"persistence/workflow/step.go attempt":                   "the function of a step",
	"persistence/trial.go saved":                             "the encoding of a state",
	"persistence/look.go look":                               "the event handler, and the decoding of a state",
	"persistence/look.go value":                              "the decoding of an event",
	"persistence/look.go list":                               "Error of what keeps an event from being decoded",
	"cluster/config.go margin":                               "Skew of a downing strategy",
	"cluster/downing_lease.go leasedDowning":                 "OrLease and Validate of a downing strategy",
	"cluster/machine_loop.go run":                            "a clock, and whatever else a node calls: the node ends",
	"cluster/internal/membership/publish.go untilDown":       "String of a downing strategy",
	"cluster/internal/membership/split_resolver.go DelayOf":  "Delay of a downing strategy",
	"internal/leaseholder/guarded.go Name":                   "a lease",
	"internal/leaseholder/guarded.go abandon":                "a lease",
	"internal/leaseholder/guarded.go acquire":                "a lease",
	"internal/leaseholder/guarded.go observeRenewals":        "a lease",
	"internal/leaseholder/guarded.go onLost":                 "a lease",
	"internal/leaseholder/guarded.go release":                "a lease",
	"internal/leaseholder/guarded.go reserve":                "a lease",
	"internal/leaseholder/guarded.go valid":                  "a lease",
	"internal/transport/network.go caught":                   "a network, its listeners, connections and sockets",
	"internal/status/coordinator.go Refresh":                 "Error of the error of a coordinator's answer",
	"cluster/cron/keeper.go end":                             "Error and Is of the error of a job",
	"cluster/cron/job.go call":                               "the job of a schedule",
	"cluster/discovered.go failureKind":                      "Error, Is and As of the error of a discovery",
	"cluster/discovered.go find":                             "Find of a discovery",
	"cluster/internal/membership/election.go sort":           "Compare of a leader election",
	"actor/refusal.go refuse":                                "Is of the reason of a dead letter",
	"actor/refusal.go deliverOutside":                        "Is of the reason of a dead letter on another node",
	"actor/refusal.go endsItself":                            "Is of the reason for which a request is dropped",
	"cluster/singleton_figures.go figuresOf":                 "Error of the last failure of a singleton",
	"cluster/internal/membership/election.go CheckElection":  "Compare of a leader election, when the node starts",
	"cluster/log.go whyNotUp":                                "Error of the error of a discovery",
	"cluster/placement/candidates.go consider":               "Score of a strategy",
	"cluster/placement/candidates.go nameOf":                 "Name of a strategy",
	"cluster/sharding/internal/allot/balance.go even":        "Score of a strategy",
	"cluster/sharding/internal/allot/strategy.go choose":     "Score of a strategy",
	"cluster/sharding/options.go strategyOf":                 "Name of a strategy",
	"cluster/sharding/residents.go endedOne":                 "Is of the failure of an entity",
	"cluster/internal/membership/split_resolver.go decision": "Decide of a downing strategy",
	"cluster/status_details.go shownSingleton":               "Error of what keeps a singleton from starting",
	"internal/codec/appended.go unmarshalled":                "UnmarshalCBOR of a type, with null",
	"internal/codec/codec.go decodeBy":                       "UnmarshalCBOR and UnmarshalBinary",
	"internal/codec/codec.go unmarshal":                      "UnmarshalCBOR and UnmarshalBinary",
	"internal/codec/format.go checkedName":                   "Name and CheckType of a codec",
	"internal/codec/format.go decodeFormat":                  "Unmarshal of a codec",
	"internal/codec/format.go marshalBy":                     "Marshal of a codec",
	"internal/codec/encodecheck.go encode":                   "MarshalCBOR, MarshalBinary and IsZero",
	"internal/codec/encodecheck.go fails":                    "the same, to find which field is at fault",
	"internal/codec/encodecheck.go prove":                    "the same, of a value that was decoded again",
	"internal/storeclock/storeclock.go Refresh":              "Now of a journal",
	"persistence/journalmetrics.go failureOf":                "Error of the error of a journal",
	"actor/telemetry/source.go Gather":                       "a source of metrics",
	"internal/slogcore/core.go Write":                        "a handler of slog",
	"persistence/store_call.go call":                         "a journal that may not listen to its context",
	"persistence/projection/event.go handle":                 "the handler of a projection",
	"persistence/projection/event.go decodeRecord":           "the adapter of a projection",
	"persistence/projection/status.go ended":                 "Error of the error of a handler",
	"persistence/record.go decodable":                        "FromJournal and a codec",
	"persistence/recovery.go recover":                        "the handler of RecoveryCompleted",
	"persistence/recovery.go stateOf":                        "the decoding of a snapshot",
	"persistence/signals.go announce":                        "signal handlers",
	"persistence/snapshotter.go takeSnapshot":                "the encoding of a state",
	"persistence/persist.go append":                          "a journal",
	"internal/transport/deadletter.go isOfUser":              "Carried of a message",
	"internal/transport/localnode.go reaches":                "ClientsReach of an endpoint",
	"internal/transport/network.go guardAdmit":               "Admit and AdmitMessages of an endpoint",
	"internal/transport/network.go guardHooks":               "Control and DialFailed of an endpoint",
	"internal/transport/network.go guardAddr":                "the addresses of a network",
	"singleton/history.go ended":                             "Error of the failure of an instance",
	"cluster/status_details.go GivenUp":                      "Error of the failure of an instance",
	"singleton/givenup.go refused":                           "Is of the failure of an instance",
	"singleton/sequenced.go final":                           "likewise",
	"singleton/history.go lostLease":                         "Error of the error of a lease",
	"singleton/instance.go ended":                            "Is of the failure of an instance",
	"internal/leaseholder/guarded.go New":                    "Config.Leases of a node, and WithLease",
	"singleton/acquisition.go claimTerm":                     "Claim of a journal",
	"singleton/lease/brokenclock.go clockNow":                "the clock of a lease",
	"singleton/lease/brokenclock.go setAlarm":                "the clock of a lease",
	"singleton/lease/keeper.go Abandon":                      "the clock of a lease",
	"singleton/lease/keeper.go request":                      "a lease store",
	"singleton/lease/keeper.go tell":                         "a function told of the loss of a lease",
	"singleton/internal/handover/election.go elected":        "the function of an anchor",
}

// Wherever code of the user's is guarded, it is so by this package, and the place is in the list.
func TestEveryPlaceThatCallsCodeOfTheUsers(t *testing.T) {
	found := guarded(t)
	want := make([]string, 0, len(places))
	for place, what := range places {
		require.NotEmpty(t, what, place)
		want = append(want, place)
	}
	slices.Sort(want)
	require.Equal(t, want, found)
}

// guarded returns where the helpers are called, or recover itself is.
func guarded(t *testing.T) (found []string) {
	t.Helper()
	root := filepath.Join("..", "..")
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		if d.IsDir() {
			if slices.Contains([]string{"internal/guard", "testkit", "examples", ".git", "tools"}, name) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		found = append(found, guardedIn(name, file)...)
		return nil
	}))
	slices.Sort(found)
	return slices.Compact(found)
}

func guardedIn(name string, file *ast.File) (found []string) {
	imported := slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool {
		path, _ := strconv.Unquote(i.Path.Value)
		return strings.HasSuffix(path, "/internal/guard")
	})
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch fun := call.Fun.(type) {
			case *ast.Ident:
				if fun.Name == "recover" {
					found = append(found, name+" "+f.Name.Name)
				}
			case *ast.SelectorExpr:
				if x, ok := fun.X.(*ast.Ident); ok && imported && x.Name == "guard" {
					found = append(found, name+" "+f.Name.Name)
				}
			}
			return true
		})
	}
	return found
}
