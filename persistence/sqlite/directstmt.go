package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
)

// A directStmt is a statement of the connection that writes, executed without database/sql, whose
// locks and conversions take a tenth of the time of an append. Only the committer uses it, and the
// connection belongs to the committer.
type directStmt struct {
	stmt interface {
		driver.Stmt
		driver.StmtExecContext
	}
	args []driver.NamedValue // set before exec
}

func (s *directStmt) prepare(ctx context.Context, conn *sql.Conn, query string, args int) error {
	s.args = make([]driver.NamedValue, args)
	for i := range s.args {
		s.args[i].Ordinal = i + 1
	}
	return conn.Raw(func(c any) error {
		prepared, err := c.(driver.ConnPrepareContext).PrepareContext(ctx, query) // the driver has it
		if err != nil {
			return err
		}
		direct, ok := prepared.(interface {
			driver.Stmt
			driver.StmtExecContext
		})
		if !ok {
			return fmt.Errorf("statements of the driver are %T", prepared)
		}
		s.stmt = direct
		return nil
	})
}

// set sets all arguments. A value is an int64, a string, a []byte or nil.
func (s *directStmt) set(values ...driver.Value) {
	for i, v := range values {
		s.args[i].Value = v
	}
}

func (s *directStmt) exec() (driver.Result, error) {
	result, err := s.stmt.ExecContext(context.Background(), s.args)
	return result, storeError(err)
}

func (s *directStmt) close() error {
	if s.stmt == nil {
		return nil
	}
	return s.stmt.Close()
}
