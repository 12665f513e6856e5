package actor

import (
	"fmt"
	"reflect"

	"github.com/understudy-go/understudy/internal/codec"
)

// A Codec encodes the values of the types that are registered with it, see [WithCodec], in a format
// of its own. Packages actor/codec/json and actor/codec/protobuf have one each. The methods are
// called on any goroutine, also at once. A panic in one is an error of the value.
//
// If a codec also has the method CheckType(reflect.Type) error, [RegisterType] calls it, and panics
// with its error.
type Codec interface {
	// Name is written into the data of each value, and never changes. No other codec of the program
	// has it. Names have the form of those of [RegisterType]; short ones save bytes.
	Name() string

	// Marshal returns v, of a type that is registered with the codec, as bytes that Unmarshal
	// decodes as the same value. It fails for a value that it would change. A nil pointer is not
	// given to it.
	Marshal(v any) ([]byte, error)

	// Unmarshal decodes what Marshal has returned, here or in another version of the program, into
	// the variable that into points to. Fields that data does not have stay as they are. It must
	// not keep data.
	Unmarshal(data []byte, into any) error
}

// A TypeOption is an option of [RegisterType].
type TypeOption func(*typeOptions)

type typeOptions struct {
	codec  Codec
	former []Codec
	coded  bool
}

// WithCodec encodes the values of the type with c in place of CBOR: on the wire, in journals and in
// snapshots, by themselves, in a [Result], and in fields of other types. Their data names the
// codec. So a type may get a codec, change or lose it, and reads all that it has written before:
// pass the codecs that have written it as former. A nil c is CBOR. In a rolling upgrade, first
// deploy a version that reads the new format, with c as former, and then one that writes it.
//
// A process that gets data of a codec that none of its types is registered with cannot decode it:
// the message is a dead letter with [ErrNotDecodable], which names the codec, and an ask fails with
// it.
//
// The type must not have fields that contain refs: a codec does not know them. Use a string field
// with [RefText] and [Resolve]. RegisterType panics for such a type, and if the type is registered
// with another codec already. The rules of RegisterType about values are those of CBOR; c has its
// own.
func WithCodec(c Codec, former ...Codec) TypeOption {
	return func(o *typeOptions) { o.codec, o.former, o.coded = c, former, true }
}

func registerFormats(name string, t reflect.Type, options []TypeOption) {
	var o typeOptions
	for _, option := range options {
		option(&o)
	}
	if o.coded && mayHoldRefs(t) {
		panic(fmt.Sprintf("actor: type %v contains an ActorRef, which a codec cannot encode; use a string field, actor.RefText and actor.Resolve", t))
	}
	if o.codec == nil {
		mustKeepFields(name, t)
	}
	former := make([]codec.Format, len(o.former))
	for i, c := range o.former {
		former[i] = c
	}
	codec.RegisterFormats(name, t, mayHoldRefs(t), o.codec, former...)
}

// RefText returns ref as a text, from which [Resolve] makes the same ref on any node, for messages
// in formats that know no refs. It is [ActorRef.String], and makes the ref of an ask or an adapter
// reachable for other nodes, as sending the ref does. The zero ActorRef is "", which Resolve logs
// as malformed. RefText panics if
// ref is of an ask for replies of a type that is not registered.
func RefText[M any](ref ActorRef[M]) string { return exportedText(ref.c) }

func exportedText(c *core) string {
	if c == nil {
		return ""
	}
	if err := exportable(c); err != nil {
		panic(err)
	}
	if c.sys != nil {
		c.sys.exports.add(c)
	}
	return c.fullString()
}
