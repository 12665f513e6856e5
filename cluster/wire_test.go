package cluster

import (
	"encoding/binary"
	"testing"

	"github.com/understudy-go/understudy/remote"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/internal/codec"
)

// The kinds of membership messages that tests send and expect; see package membership.
const (
	kindHeartbeat = 1
	kindPush      = 5
	kindDown      = 6
)

// The membership messages as they are encoded.
type (
	wireHeartbeat struct {
		_       struct{} `cbor:",toarray"`
		Cluster [16]byte
		Seq     uint64
		Stream  bool
		Members uint64
		All     uint64
		Seen    []byte
	}
	wirePush struct {
		_     struct{} `cbor:",toarray"`
		From  remote.NodeID
		Whole bool
		Table wireTable
	}
	wireTable struct {
		_       struct{} `cbor:",toarray"`
		Cluster [16]byte
		Members []membership.Member
		Tombs   []any
		Rows    []any
	}
)

// wireMessage encodes a message from an incarnation to any incarnation of the receiver.
func wireMessage(t *testing.T, kind byte, from uint64, msg any) []byte {
	t.Helper()
	body, err := codec.Marshal(msg)
	require.NoError(t, err)
	data := binary.BigEndian.AppendUint64([]byte{membership.Version, kind}, from)
	return append(binary.BigEndian.AppendUint64(data, 0), body...)
}

func wireBody(t *testing.T, data []byte, msg any) {
	t.Helper()
	require.NoError(t, codec.Unmarshal(data[18:], msg))
}
