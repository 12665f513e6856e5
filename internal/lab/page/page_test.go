package page_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/lab/page"
)

func TestAPageKeepsItsTextWhenItsFiguresAreReplaced(t *testing.T) {
	const begin, end = "<!-- figures: make it -->\n", "<!-- end of the figures -->\n"
	file := filepath.Join(t.TempDir(), "page.md")
	for text, want := range map[string]string{
		"# Text\n" + begin + "old\n" + end + "more\n": "",
		"# Text\n":         "there is no line",
		"# Text\n" + begin: "end of the figures",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		err := page.Replace(file, begin, "new\n")
		got, errRead := os.ReadFile(file)
		require.NoError(t, errRead)
		if want != "" {
			require.ErrorContains(t, err, want)
			require.Equal(t, text, string(got))
			continue
		}
		require.NoError(t, err)
		require.Equal(t, "# Text\n"+begin+"\nnew\n\n"+end+"more\n", string(got))
	}
}
