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

func exampleReport() report {
	began := time.Now()
	rows := rowsOf("a1", "b2", "a2")
	for i := range rows {
		rows[i].at = began.Add(time.Duration(i) * time.Second)
	}
	played := &trial{
		opponent: opponent{name: "lock", title: "advisory lock"}, stage: &stage{settings: settings{rate: 200}}, began: began, length: 3 * time.Second,
		acks: acksOf(rows[:1]), rows: rows, verdict: check(acksOf(rows[:1]), rows),
		outages: []outage{{fault: "SIGKILL", from: time.Second, to: 3 * time.Second, longest: 1500 * time.Millisecond}},
	}
	return report{began: began, trials: []*trial{played, {opponent: opponents[0], skipped: errors.New("skipped: no API server")}}}
}

func TestTheTableHasALineForEachOpponent(t *testing.T) {
	harm := exampleReport().harm().markdown()
	require.Contains(t, harm, "| advisory lock | 1.5 s | 1.5 s | 1 | 0 | 1 | 0 | 1 | 0 | 0 |\n")
	require.Contains(t, harm, "| client-go Lease | skipped: no API server |  |  |")
	require.Contains(t, exampleReport().outages().markdown(), "| advisory lock | 1.5 s |  |  |  |\n")
}

func TestATrialThatEndedEarlyIsCountedAndSaysWhy(t *testing.T) {
	r := exampleReport()
	r.trials[0].stopped = errors.New("SIGKILL: not well after 1m30s")
	require.Contains(t, r.figures(), "advisory lock ended early: SIGKILL: not well after 1m30s.\n")
	require.Contains(t, r.figures(), "| advisory lock | 1.5 s |")
}

func TestThePlotIsXMLAndShowsBadRows(t *testing.T) {
	image := plot(exampleReport().trials)
	require.Equal(t, 1, strings.Count(image, `stroke="#d11"`), "one of three rows is bad")
	require.Contains(t, image, "SIGKILL 1.5 s")
	for decoder := xml.NewDecoder(strings.NewReader(image)); ; {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
	}
}

func TestAnUnknownOpponentIsRefused(t *testing.T) {
	require.NoError(t, settings{rounds: 1, rate: 1, names: allNames()}.validate())
	require.ErrorContains(t, settings{rounds: 1, rate: 1, names: "goakt"}.validate(), `no "goakt"`)
	require.ErrorContains(t, settings{names: allNames()}.validate(), "positive")
}
