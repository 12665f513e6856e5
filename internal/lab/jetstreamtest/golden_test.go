package jetstreamtest

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/golden"
	goldenhistory "github.com/understudy-go/understudy/internal/journalhistory"
)

const (
	goldenStream  = "golden"
	newestVersion = 1 // of the messages that this build writes
)

// A golden file of streams has one line for each message: the stream, the sequence number, the
// subject and the data.
const goldenLine = "%s %d %s %s\n"

func TestStreamsOfEveryVersionAreRead(t *testing.T) {
	for version := 1; version <= newestVersion; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			lines := golden.File(t, fmt.Sprintf("version-%d.txt", version), func() []byte {
				require.Equal(t, newestVersion, version, "this build writes no older version")
				return writtenNow(t)
			})
			r := &rig{cluster: start(t, 1)}
			restore(t, r.open(t, goldenStream), lines)
			goldenhistory.Require(t, r.open(t, goldenStream))
		})
	}
}

// writtenNow returns the messages of the history as this build writes them.
func writtenNow(t *testing.T) []byte {
	t.Helper()
	r := &rig{cluster: start(t, 1)}
	j := r.open(t, goldenStream)
	goldenhistory.Write(t, j)
	var lines bytes.Buffer
	for _, name := range []string{goldenStream, goldenStream + "_LARGE"} {
		stream := j.at(t, name)
		info, err := stream.Info(t.Context())
		require.NoError(t, err)
		for seq := info.State.FirstSeq; seq <= info.State.LastSeq; seq++ {
			m, err := stream.GetMsg(t.Context(), seq)
			if errors.Is(err, js.ErrMsgNotFound) {
				continue
			}
			require.NoError(t, err)
			fmt.Fprintf(&lines, goldenLine, name, seq, m.Subject, "0x"+hex.EncodeToString(m.Data))
		}
	}
	return lines.Bytes()
}

// restore publishes the messages in lines under their sequence numbers. Where numbers are missing,
// it publishes a message and deletes it.
func restore(t *testing.T, j *located, lines []byte) {
	t.Helper()
	client, err := js.New(j.nc)
	require.NoError(t, err)
	last := map[string]uint64{}
	for s := bufio.NewScanner(bytes.NewReader(lines)); s.Scan(); {
		var name, subject, text string
		var seq uint64
		_, err := fmt.Sscanf(s.Text()+"\n", goldenLine, &name, &seq, &subject, &text)
		require.NoError(t, err)
		data, err := hex.DecodeString(text[len("0x"):])
		require.NoError(t, err)
		for last[name]+1 < seq {
			ack, err := client.Publish(t.Context(), subject, nil)
			require.NoError(t, err)
			require.NoError(t, j.at(t, name).DeleteMsg(t.Context(), ack.Sequence))
			last[name] = ack.Sequence
		}
		ack, err := client.Publish(t.Context(), subject, data)
		require.NoError(t, err)
		require.Equal(t, seq, ack.Sequence)
		last[name] = seq
	}
}
