package pg

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Durable is an expression that makes the commit of this transaction wait for the disk, and for
// synchronous standbys if there are any. It leaves a stronger setting unchanged. It applies until
// the transaction ends.
const Durable = `set_config('synchronous_commit', CASE current_setting('synchronous_commit')
	WHEN 'off' THEN 'on' WHEN 'local' THEN 'on' ELSE current_setting('synchronous_commit') END, true)`

// A Table describes a table that any number of programs use. Each of them may create it.
type Table struct {
	Schema, Name string // used literally: case matters, any characters are allowed
	Columns      string // the columns that the program uses, separated by commas
	Definition   string // the text after the name in CREATE TABLE
	Version      int    // of the definition, at least 1; it is in the comment on the table
	Type         string // the Go type whose methods Migrate and DDL create the table, for [Table.Explain]
}

// validate fails if two programs could interpret the table's name differently.
func (t Table) validate() error {
	if t.Schema == "" || t.Name == "" {
		return errors.New("Table needs a schema and a name: without a schema two programs may mean different tables")
	}
	return nil
}

// SQL replaces {table} in a statement by the name of the table, and {durable} by [Durable].
func (t Table) SQL(statement string) string {
	name := pgx.Identifier{t.Schema, t.Name}.Sanitize()
	return strings.NewReplacer("{table}", name, "{durable}", Durable).Replace(statement)
}

// DDL returns the statements that create the table. The schema must exist.
func (t Table) DDL() string { return t.create() + ";\n" }

// create returns a single statement, so the table never exists without its version.
func (t Table) create() string {
	return t.SQL("DO $understudy$ BEGIN\nCREATE TABLE {table} " + t.Definition + ";\n" +
		"COMMENT ON TABLE {table} IS '" + versionComment + strconv.Itoa(t.Version) + "';\n" +
		"EXCEPTION WHEN duplicate_table THEN NULL;\nEND $understudy$")
}

// versionComment begins the comment on a table, and its version follows.
const versionComment = "understudy, version "

func (t Table) createSchema() string {
	return "CREATE SCHEMA IF NOT EXISTS " + pgx.Identifier{t.Schema}.Sanitize()
}

// Explain adds advice to an error of the server.
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
