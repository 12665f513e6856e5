package delivery

import (
	"strings"

	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/internal/codec"
)

const (
	maxReasonText  = 512  // bytes of the text of a reason that cross the wire
	maxReasonTyped = 1024 // bytes of the errors with fields in it
)

// reasonOf returns what is sent of the reason of a refusal. It is small, as many may be sent at
// once.
func reasonOf(err error) extension.ErrorPayload {
	p := extension.PackError(err)
	if len(p.Text) > maxReasonText {
		p.Text = strings.ToValidUTF8(p.Text[:maxReasonText], "") + " ..."
	}
	size := 0
	for _, typed := range p.As {
		size += len(typed.Data)
	}
	if size > maxReasonTyped {
		p.As = nil
	}
	return p
}

// confirmation is [Confirmed] on the wire.
type confirmation struct {
	_       struct{} `cbor:",toarray"`
	Number  uint64
	Refused uint64
	Reason  extension.ErrorPayload
}

// MarshalCBOR encodes the numbers and the reason.
func (c Confirmed) MarshalCBOR() ([]byte, error) {
	return codec.Marshal(confirmation{Number: c.Number, Refused: c.Refused, Reason: reasonOf(c.Reason)})
}

// UnmarshalCBOR decodes what MarshalCBOR made.
func (c *Confirmed) UnmarshalCBOR(data []byte) error {
	var w confirmation
	if err := codec.Unmarshal(data, &w); err != nil {
		return err
	}
	*c = Confirmed{Number: w.Number, Refused: w.Refused, Reason: extension.UnpackError(nil, w.Reason)}
	return nil
}
