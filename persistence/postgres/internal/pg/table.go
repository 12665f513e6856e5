package pg

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/understudy-go/understudy/internal/pgschema"
)

// Durable is an expression that makes the commit of this transaction wait for the disk, and for
// synchronous standbys if there are any. It leaves a stronger setting unchanged. It applies until
// the transaction ends.
const Durable = `set_config('synchronous_commit', CASE current_setting('synchronous_commit')
	WHEN 'off' THEN 'on' WHEN 'local' THEN 'on' ELSE current_setting('synchronous_commit') END, true)`

// A Table describes a table that any number of programs use. Each of them may create it.
type Table struct {
	Schema, Name string   // used literally: case matters, any characters are allowed
	Columns      string   // the columns that the program uses, separated by commas
	Migrations   []string // see [pgschema.Commented]; their number is the version of the table
	Type         string   // the Go type whose methods Migrate and DDL create the table, for [Table.Explain]
}

// Two programs must not interpret the table's name differently.
func (t Table) validate() error {
	if t.Schema == "" || t.Name == "" {
		return errors.New("Table needs a schema and a name: without a schema two programs may mean different tables")
	}
	return nil
}

// SQL replaces {table} in a statement by the name of the table, and {durable} by [Durable].
func (t Table) SQL(statement string) string {
	name := pgschema.Quote(t.Schema) + "." + pgschema.Quote(t.Name)
	return strings.NewReplacer("{table}", name, "{durable}", Durable).Replace(statement)
}

// DDL returns the statement that creates the table, and the schema if it does not exist, or brings
// an older table up to date.
func (t Table) DDL() string {
	return pgschema.Commented(t.Schema, t.Name, t.Migrations).SQL() + ";\n"
}

// Explain adds advice to an error of the server.
func (t Table) Explain(err error) error {
	switch Code(err) {
	case UndefinedTable, UndefinedSchema:
		return fmt.Errorf("there is no such table, run %[1]s.Migrate or the statement of %[1]s.DDL: %[2]w", t.Type, err)
	case UndefinedColumn:
		return fmt.Errorf("the table is not one of this package, name another with postgres.Table: %w", err)
	case NoPrivilege:
		return fmt.Errorf("the role needs USAGE on the schema and SELECT, INSERT and UPDATE on the table: %w", err)
	case ReadOnly:
		return fmt.Errorf("this server takes no writes, connect to the primary (target_session_attrs=read-write): %w", err)
	}
	return err
}

// Escape returns a text in a form that PostgreSQL can store. It escapes NUL, backslash and bytes
// that are not UTF-8 with a backslash, and leaves other text unchanged. Different texts have
// different results.
func Escape(text string) string {
	if utf8.ValidString(text) && !strings.ContainsAny(text, "\x00\\") {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == 0, r == '\\', r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\%02x`, text[0])
		default:
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

// Unescape is the inverse of [Escape]. It fails for an invalid escape sequence, which Escape never
// writes.
func Unescape(text string) (string, error) {
	var b strings.Builder
	for {
		plain, rest, found := strings.Cut(text, `\`)
		b.WriteString(plain)
		if !found {
			return b.String(), nil
		}
		if len(rest) < 2 {
			return "", fmt.Errorf("%q is not as this package writes it", text)
		}
		c, err := strconv.ParseUint(rest[:2], 16, 8)
		if err != nil {
			return "", fmt.Errorf("%q is not as this package writes it: %w", text, err)
		}
		b.WriteByte(byte(c))
		text = rest[2:]
	}
}
