package godoc

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const source = `package p

// Config is one.
type Config struct {
	// Size is how many. The
	// default is 7.
	Size int
	// A and B: the defaults are 1 and 2.
	A, B int
	// hidden has none. The default is 3.
	hidden int
}

// Window sets one; the default is 9.
func Window(int) {}

// Plain has none.
func Plain() {}
`

func TestCheckFindsWhatCommentsAndCodeDisagreeAbout(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o600))
	require.Equal(t, []string{
		"Config.A documents a default that no test looks at",
		"the comment of Config.Size does not say \"is 8\"",
		"the default of Window is 10, documented is 9",
	}, Check(dir,
		Is("Config.Size", "is 8", 8, 8),
		Is("Config.B", "1 and 2", 2, 2),
		Is("Window", "the default is 9", 9, 10),
	))
	require.Len(t, Check(filepath.Join(dir, "p.go[")), 1)
}
