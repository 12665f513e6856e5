package pg

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// Codes of the server's errors, to compare with the result of [Code].
const (
	OutOfRange      = "22003"
	NotUnique       = "23505"
	CheckFailed     = "23514"
	ReadOnly        = "25006"
	NoStatement     = "26000"
	UndefinedSchema = "3F000"
	Serialization   = "40001"
	Deadlock        = "40P01"
	NoPrivilege     = "42501"
	UndefinedColumn = "42703"
	DuplicateObject = "42710"
	UndefinedTable  = "42P01"
	SameStatement   = "42P05"
	DuplicateSchema = "42P06"
	DuplicateTable  = "42P07"
	DiskFull        = "53100"
	LimitExceeded   = "54000"
	Canceled        = "57014"
	DataCorrupted   = "XX001"
	IndexCorrupted  = "XX002"
)

// Code returns the server's code of an error, or "" if err does not come from the server.
func Code(err error) string {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return refused.Code
	}
	return ""
}

// IsMissing reports whether err says that a table or its schema does not exist.
func IsMissing(err error) bool {
	return Code(err) == UndefinedTable || Code(err) == UndefinedSchema
}
