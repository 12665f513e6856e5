package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAReportSaysWhatIsReached(t *testing.T) {
	r := report{costs: costs{local: comparison{20, 40}, remote: comparison{1000, 1151}, idle: 600, plain: 400}}
	r.kills = []kill{{entities: 6, lost: 2, nodes: []memory{{Heap: 600}, {}, {}}, first: 3 * time.Second, seconds: []second{{from: -1, sent: 9, p50: time.Millisecond}}}}
	said := r.text()
	require.Contains(t, said, "| tell, on the same node | 20 ns | 40 ns | 2.00 times | 2 times: reached |")
	require.Contains(t, said, "| 1.15 times | 1.15 times: not reached |")
	require.Contains(t, said, "100 bytes for each entity")
	require.Contains(t, said, "| -1 | 9 | 0 | 1.0 ms |")
}

func TestAPlotIsWellFormedAndHasAPointForEachSecond(t *testing.T) {
	k := kill{seconds: []second{{from: -1, p50: time.Millisecond}, {from: 0, p50: time.Second, p99: time.Hour}, {from: 1, p50: 1}}}
	plot := k.plot().SVG()
	d := xml.NewDecoder(strings.NewReader(plot))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	_, points, _ := strings.Cut(plot, `points="`)
	points, _, _ = strings.Cut(points, `"`)
	require.Len(t, strings.Fields(points), 3)
}
