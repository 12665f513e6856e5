package transport

import (
	"bytes"
	"strings"
	"testing"

	"github.com/understudy-go/understudy/remote"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/transport/wire"
)

func TestAHelloThatIsNoneIsRefused(t *testing.T) {
	for name, h := range map[string]any{
		"without versions":           hello{Addr: "a:1", Incarnation: 1},
		"without a lowest version":   hello{Max: 1, Addr: "a:1", Incarnation: 1},
		"with versions out of order": hello{Min: 2, Max: 1, Addr: "a:1", Incarnation: 1},
		"without an address":         hello{Min: 1, Max: 1, Incarnation: 1},
		"without an incarnation":     hello{Min: 1, Max: 1, Addr: "a:1"},
		"of another kind":            "hello",
		"with a text as a version":   map[int]string{1: "one"},
	} {
		body, err := codec.Marshal(h)
		require.NoError(t, err)
		_, err = parseHello(body)
		var no *refusal
		require.ErrorAs(t, err, &no, name)
		require.Equal(t, remote.RefusedHello, no.reason, name)
	}
}

func TestHelloMayHaveFieldsOfLaterVersions(t *testing.T) {
	body, err := codec.Marshal(struct {
		Min         int    `cbor:"1,keyasint"`
		Max         int    `cbor:"2,keyasint"`
		Addr        string `cbor:"8,keyasint"`
		Incarnation int    `cbor:"9,keyasint"`
		News        string `cbor:"99,keyasint"`
	}{1, 1000, "a:1", 7, "news"})
	require.NoError(t, err)
	h, err := parseHello(body)
	require.NoError(t, err)
	require.Equal(t, remote.NodeID{Address: "a:1", Incarnation: 7}, h.peer())
}

func TestRefusalReachesTheDialler(t *testing.T) {
	var conn struct {
		bytes.Buffer // what the listener answers
		sent         bytes.Buffer
	}
	require.NoError(t, new(localNode).sendAnswer(&conn, answer{Incarnation: 5, Refusal: remote.RefusedCluster, Detail: "blue"}))
	_, err := greet(&duplex{&conn.Buffer, &conn.sent}, channelUser, hello{}, "b:1")
	var refused *remote.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, remote.RefusedError{Peer: remote.NodeID{Address: "b:1", Incarnation: 5}, Refusal: remote.RefusedCluster, Detail: "blue"}, *refused)
	require.EqualError(t, err, "remote: refused by b:1: wrong cluster: blue")
	require.True(t, strings.HasPrefix(conn.sent.String(), preface+"A"))
}

func TestAnswerThatMakesNoSenseIsMalformed(t *testing.T) {
	for name, a := range map[string]any{
		"no map":                 "welcome",
		"without an incarnation": answer{Version: Version},
		"without a version":      answer{Incarnation: 1},
	} {
		body, err := codec.Marshal(a)
		require.NoError(t, err)
		_, err = parseAnswer(body)
		require.ErrorIs(t, err, remote.ErrFrame, name)
	}
}

func TestHandshakeIsBounded(t *testing.T) {
	var out bytes.Buffer
	in := bytes.NewReader(wire.AppendFrame(nil, []byte(strings.Repeat("x", maxHandshake+1))))
	_, err := greet(&duplex{in, &out}, channelUser, hello{}, "b:1")
	require.ErrorIs(t, err, remote.ErrTooLarge)
}

func TestChannelsAndRefusalsHaveNames(t *testing.T) {
	require.Equal(t, "control user stream channel 0x58", strings.Join([]string{
		channelControl.String(), channelUser.String(), channelStream.String(), channel('X').String(),
	}, " "))
	for r := remote.RefusedHello; r <= remote.RefusedMember; r++ {
		require.NotContains(t, r.String(), "refusal")
	}
	require.Equal(t, "refusal 99", remote.Refusal(99).String())
}

func FuzzHandshake(f *testing.F) {
	for _, v := range []any{
		hello{Min: 1, Max: 2, UserMin: 1, UserMax: 1, UserFeatures: 1 << 63, Cluster: "blue", Addr: "a:1", Incarnation: 7, Want: 3, Session: 1},
		answer{Version: Version, Incarnation: 7, Received: 100},
		answer{Version: Version, Refusal: remote.RefusedCluster, Detail: "green"},
	} {
		body, err := codec.Marshal(v)
		require.NoError(f, err)
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if h, err := parseHello(body); err == nil {
			require.NotEmpty(t, h.Addr)
			require.NotZero(t, h.Incarnation)
			again, err := codec.Marshal(h)
			require.NoError(t, err)
			same, err := parseHello(again)
			require.NoError(t, err)
			require.Equal(t, h, same)
		}
		if a, err := parseAnswer(body); err == nil && a.Refusal == 0 {
			require.NotZero(t, a.Incarnation)
		}
	})
}

// duplex reads from one and writes to the other.
type duplex struct {
	in interface {
		Read(p []byte) (int, error)
	}
	out *bytes.Buffer
}

func (d *duplex) Read(p []byte) (int, error)  { return d.in.Read(p) }
func (d *duplex) Write(p []byte) (int, error) { return d.out.Write(p) }
