// Package golden compares stored forms with files that an earlier build has written. Only tests
// import it.
//
// A golden file never changes: it stands for what is in the databases of users. If a test fails
// because the form has changed, give the new form a new version, and keep reading the old one.
package golden

import (
	"encoding/hex"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/payload"
)

var update = flag.Bool("update", false, "write the golden files that do not exist; existing ones stay as they are")

const dir = "testdata/golden"

// File returns the content of a golden file of the package under test. With the flag -update, it
// first writes the file with the result of content, unless the file exists.
func File(t testing.TB, name string, content func() []byte) []byte {
	t.Helper()
	path := filepath.Join(dir, name)
	if *update {
		require.NoError(t, create(path, content))
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err, "a new form needs a file of its own: run the test with -update")
	return data
}

func create(path string, content func() []byte) error {
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content(), 0o644)
}

// Hex is File for bytes, which are stored as a line of hexadecimal digits.
func Hex(t testing.TB, name string, content func() []byte) []byte {
	t.Helper()
	text := File(t, name+".hex", func() []byte { return []byte(hex.EncodeToString(content()) + "\n") })
	data, err := hex.DecodeString(strings.TrimSpace(string(text)))
	require.NoError(t, err, name)
	return data
}

// Values requires that the golden files of the package are the stored forms of values, one file for
// each registered name: each file is read as its value, and the value is still stored as in its
// file. A name ends in the version of its form, and older versions stay among the values.
func Values(t testing.TB, values ...any) {
	t.Helper()
	var want []string
	for _, v := range values {
		now, err := payload.Pack(v)
		require.NoError(t, err)
		name := strings.ReplaceAll(now.Type, "/", "_")
		then := Hex(t, name, func() []byte { return now.Data })
		got, err := payload.Unpack(payload.Payload{Type: now.Type, Data: then}, nil)
		require.NoError(t, err, now.Type)
		require.Equal(t, v, got, now.Type)
		require.Equal(t, then, now.Data, "%s is now stored in another form: give it a new version", now.Type)
		want = append(want, filepath.Join(dir, name+".hex"))
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.hex"))
	require.NoError(t, err)
	slices.Sort(want)
	require.Equal(t, want, files, "every file has its value")
}
