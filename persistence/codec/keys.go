package codec

import (
	"encoding/base64"
	"fmt"
	"maps"

	"github.com/understudy-go/understudy/persistence/internal/envelope"
	"github.com/understudy-go/understudy/persistence/journal"
)

// encodeKeys returns the metadata of a record, in which the keys of commands and the replies to
// them are encoded.
func (w *wrapper) encodeKeys(id string, r *journal.Record) (map[string]string, error) {
	text, ok := r.Meta[envelope.KeysMeta]
	if !ok {
		return r.Meta, nil
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err == nil {
		data, err = w.codecs.encode(idOfKeys(id, r), data)
	}
	if err != nil {
		return nil, err
	}
	meta := maps.Clone(r.Meta)
	meta[envelope.KeysMeta] = base64.StdEncoding.EncodeToString(data)
	return meta, nil
}

func (w *wrapper) decodeKeys(id string, r *journal.Record) error {
	text, ok := r.Meta[envelope.KeysMeta]
	if !ok {
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return fmt.Errorf("%w: %w", journal.ErrCorrupt, err)
	}
	data, shredded, err := w.codecs.decode(idOfKeys(id, r), data)
	switch {
	case shredded:
		delete(r.Meta, envelope.KeysMeta)
	case err == nil:
		r.Meta[envelope.KeysMeta] = base64.StdEncoding.EncodeToString(data)
	}
	return err
}

func idOfKeys(id string, r *journal.Record) PayloadID {
	at := idOfRecord(id, r)
	at.Keys = true
	return at
}
