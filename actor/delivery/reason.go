package delivery

import (
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/window"
)

type confirmation struct {
	_       struct{} `cbor:",toarray"`
	Number  uint64
	Refused uint64
	Reason  extension.ErrorPayload
}

// MarshalCBOR encodes the numbers and the reason.
func (c Confirmed) MarshalCBOR() ([]byte, error) {
	return codec.Marshal(confirmation{Number: c.Number, Refused: c.Refused, Reason: window.ReasonOf(c.Reason)})
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
