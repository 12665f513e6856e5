package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/walkthrough"
)

// The last step of the page needs PostgreSQL: module persistence/postgres follows the whole page.
func TestGettingStartedCanBeTypedAsItIsPrinted(t *testing.T) {
	page, _, found := strings.Cut(read(t, "docs/guide/getting-started.md"), "\n## 7. PostgreSQL\n")
	require.True(t, found)
	repository, err := filepath.Abs(root)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(repository, filepath.Join(dir, "understudy")))
	shell, err := walkthrough.Open(t.Context(), dir)
	require.NoError(t, err)
	defer shell.Close()
	require.NoError(t, shell.Follow(page, func(step walkthrough.Step) {
		if step.File == "" {
			t.Logf("line %d\n%s", step.Line, step.Text)
		}
	}))
}
