package page_test

import (
	"encoding/xml"
	"fmt"
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

func TestAPlotHasEachPointAtItsPlace(t *testing.T) {
	text := func(tick float64) string { return fmt.Sprint(tick) }
	svg := page.Plot{
		Title:  "how many",
		X:      page.Axis{Most: 10, Ticks: []float64{0, 5, 10}, Text: text},
		Y:      page.Axis{Least: 1, Most: 100, Log: true, Ticks: []float64{1, 10, 100}, Text: text},
		Curves: []page.Curve{{Name: "one", Points: []page.Point{{0, 1}, {5, 10}, {10, 100}, {11, 1e9}}}},
		Grey:   []float64{5, 10},
	}.SVG()
	require.NoError(t, xml.Unmarshal([]byte(svg), &struct{ XMLName xml.Name }{}))
	require.Contains(t, svg, `points="70.0,315.0 320.0,167.5 570.0,20.0 570.0,20.0"`, "as far as the plot goes")
	require.Contains(t, svg, `<rect x="320.0" y="20" width="250.0"`)
}
