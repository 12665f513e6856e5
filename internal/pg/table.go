package pg

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Durable is an expression that makes this transaction's commit wait for the disk, and for
// the standbys where the server has synchronous ones, and leaves a stronger setting alone.
// It ends with the transaction.
const Durable = `set_config('synchronous_commit', CASE current_setting('synchronous_commit')
	WHEN 'off' THEN 'on' WHEN 'local' THEN 'on' ELSE current_setting('synchronous_commit') END, true)`

// A Table is a table that any number of programs use, each of which may be the one to make
// it.
type Table struct {
	Schema, Name string // used as they are, in any case and with any characters
	Columns      string // those that the program uses, separated by commas
	Definition   string // what follows the name in CREATE TABLE
	Type         string // whose methods Migrate and DDL make the table, for [Table.Explain]
}

// validate reports a table that two programs could mean differently.
func (t Table) validate() error {
	if t.Schema == "" || t.Name == "" {
		return errors.New("Table needs a schema and a name: without a schema two programs may mean different tables")
	}
	return nil
}

// SQL fills in a statement: {table} is the name of the table, {durable} is [Durable].
func (t Table) SQL(statement string) string {
	name := pgx.Identifier{t.Schema, t.Name}.Sanitize()
	return strings.NewReplacer("{table}", name, "{durable}", Durable).Replace(statement)
}

// DDL returns the statements that make the table. The schema must exist.
func (t Table) DDL() string { return t.create() + ";\n" }

func (t Table) create() string { return t.SQL("CREATE TABLE IF NOT EXISTS {table} " + t.Definition) }

func (t Table) createSchema() string {
	return "CREATE SCHEMA IF NOT EXISTS " + pgx.Identifier{t.Schema}.Sanitize()
}

// Explain adds to an error of the server what to do about it.
func (t Table) Explain(err error) error {
	switch Code(err) {
	case UndefinedTable, UndefinedSchema:
		return fmt.Errorf("there is no such table, run %[1]s.Migrate or the statements of %[1]s.DDL: %[2]w", t.Type, err)
	case UndefinedColumn:
		return fmt.Errorf("the table is not one of this package, name another with postgres.Table: %w", err)
	case NoPrivilege:
		return fmt.Errorf("the role needs USAGE on the schema and SELECT, INSERT and UPDATE on the table: %w", err)
	case ReadOnly:
		return fmt.Errorf("this server takes no writes, connect to the primary (target_session_attrs=read-write): %w", err)
	}
	return err
}
