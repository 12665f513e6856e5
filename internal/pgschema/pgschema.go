// Package pgschema writes the statement that creates the tables of a store in PostgreSQL and
// migrates them. All stores use it, and it imports no client of a database.
package pgschema

import (
	"fmt"
	"strconv"
	"strings"
)

// MigratedFrom is the setting that has the version of the tables before, if the statement of
// [Plan.SQL] has changed it, until the end of the transaction.
const MigratedFrom = "understudy.migrated_from"

// A Plan brings the tables of a store from each version to the next. In its texts {schema} is the
// name of the schema, {table} the name of the table with its schema, and {version} the number of
// migrations.
type Plan struct {
	Schema     string   // "" is the first schema of the search path, which must exist
	Table      string   // for {table}; may be empty
	Find       string   // statements that set v to the version of the tables, 0 without tables
	Migrations []string // existing ones never change; new ones are added at the end
	Mark       string   // statements that store the version
}

// VersionComment begins the comment on the table of a plan of [Commented]; the version follows.
const VersionComment = "understudy, version "

// Commented returns a plan for one table, whose comment has the version. A table without such a
// comment is not changed. The names are used literally, in any case and with any characters.
func Commented(schema, table string, migrations []string) Plan {
	return Plan{
		Schema: schema, Table: table, Migrations: migrations,
		Find: `SELECT CASE WHEN t IS NULL THEN 0 ELSE
	coalesce(substring(obj_description(t, 'pg_class') FROM '^` + VersionComment + `([0-9]{1,9})$')::int, {version}) END
	INTO v FROM to_regclass({table as text}) t;`,
		Mark: "COMMENT ON TABLE {table} IS '" + VersionComment + "{version}';",
	}
}

// SQL returns a single statement, so it takes effect completely or not at all, behind any pooler.
// It takes a lock for the schema, so that programs that start at once apply each migration once. It
// creates the schema if it does not exist, and may be run again.
func (p Plan) SQL() string {
	var b strings.Builder
	b.WriteString(`DO $understudy$
DECLARE v int;
BEGIN
PERFORM pg_advisory_xact_lock(hashtextextended('understudy ' || {name}, 0));
`)
	if p.Schema != "" {
		b.WriteString("IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = {name}) THEN\n\tCREATE SCHEMA {schema};\nEND IF;\n")
	}
	b.WriteString(p.Find + "\n")
	for i, migration := range p.Migrations {
		fmt.Fprintf(&b, "IF v < %d THEN\n%s\nEND IF;\n", i+1, strings.TrimSpace(migration))
	}
	b.WriteString("IF v < {version} THEN\n\tPERFORM set_config('" + MigratedFrom + "', v::text, true);\n\t" + p.Mark + "\nEND IF;\nEND\n$understudy$")
	name, table := "current_schema()", Quote(p.Table)
	if p.Schema != "" {
		name, table = text(p.Schema), Quote(p.Schema)+"."+table
	}
	return strings.NewReplacer(
		"{schema}", Quote(p.Schema), "{name}", name, "{table}", table, "{table as text}", text(table),
		"{version}", strconv.Itoa(len(p.Migrations)),
	).Replace(b.String())
}

// Quote returns name as an identifier.
func Quote(name string) string {
	return `"` + strings.ReplaceAll(strings.ReplaceAll(name, "\x00", ""), `"`, `""`) + `"`
}

// Any standard_conforming_strings will do.
func text(s string) string {
	s = "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, `\`) {
		s = "E" + strings.ReplaceAll(s, `\`, `\\`)
	}
	return s
}
