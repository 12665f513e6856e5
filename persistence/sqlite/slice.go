package sqlite

import (
	"database/sql/driver"
	"fmt"

	sqlite "modernc.org/sqlite" // the driver "sqlite"

	"github.com/understudy-go/understudy/persistence/journal"
)

// sliceFunction is journal.SliceOf in SQL. With it SQLite skips the events of other slices without
// returning them, and the slice need not be stored.
const sliceFunction = "understudy_slice"

func init() { sqlite.MustRegisterDeterministicScalarFunction(sliceFunction, 1, sliceOf) }

func sliceOf(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	id, ok := args[0].(string)
	if !ok {
		return nil, fmt.Errorf("%s of a %T", sliceFunction, args[0])
	}
	return int64(journal.SliceOf(id)), nil
}
