package formats

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/typepb"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/codec/protobuf"
)

// The program before had a codec of its own: protobuf behind a mark.
type marked struct{ protobuf.Codec }

const mark = "#"

func (marked) Name() string { return "marked" }

func (c marked) Marshal(v any) ([]byte, error) {
	data, err := c.Codec.Marshal(v)
	return append([]byte(mark), data...), err
}

func (c marked) Unmarshal(data []byte, into any) error {
	rest, ok := bytes.CutPrefix(data, []byte(mark))
	if !ok {
		return errors.New("it has no mark")
	}
	return c.Codec.Unmarshal(rest, into)
}

func init() {
	actor.RegisterType[*typepb.Option]("formats.option", actor.WithCodec(protobuf.Codec{}, marked{}))
	actor.RegisterType[*typepb.Type]("formats.type", actor.WithCodec(protobuf.Codec{}, marked{}))
}

// An event is a message that has an Any with a oneof in it, and a field that this program does not
// know; the state is a message with all events.
var inProtobuf = format[*typepb.Option, *typepb.Type]{
	codec: "protobuf",
	event: func(i int) *typepb.Option {
		value, err := anypb.New(structpb.NewNumberValue(float64(i)))
		if err != nil {
			panic(err)
		}
		event := &typepb.Option{Name: "tea", Value: value}
		event.ProtoReflect().SetUnknown(protowire.AppendString(protowire.AppendTag(nil, 99, protowire.BytesType), "for Ada"))
		return event
	},
	initial: &typepb.Type{},
	apply: func(state *typepb.Type, event *typepb.Option) *typepb.Type {
		state = proto.CloneOf(state)
		state.Options = append(state.Options, event)
		return state
	},
	older: func(v any) ([]byte, error) {
		data, err := marked{}.Marshal(v)
		return item("marked", data), err
	},
	same: func(t *testing.T, want, got *typepb.Type) {
		t.Helper()
		require.True(t, proto.Equal(want, got), "%v is not %v", got, want)
		for _, event := range got.GetOptions() {
			require.NotEmpty(t, event.ProtoReflect().GetUnknown())
		}
	},
}

func TestProtobufInEachStore(t *testing.T) { inEachStore(t, inProtobuf) }
