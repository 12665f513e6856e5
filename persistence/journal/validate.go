package journal

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// MaxIDLength is the greatest length of a persistence id, in bytes. The name of a type of entities
// (255), a separator and the id of an entity (255) fit.
const MaxIDLength = 512

// ValidateID returns [ErrInvalid] with the reason if id is not a valid persistence id: it is empty,
// longer than [MaxIDLength], not UTF-8, or contains NUL. Journals call it first in each method.
func ValidateID(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("%w: the id is empty", ErrInvalid)
	case len(id) > MaxIDLength:
		return fmt.Errorf("%w: the id has %d bytes, more than %d", ErrInvalid, len(id), MaxIDLength)
	}
	return validateText("the id", id)
}

// Validate returns [ErrInvalid] with the reason if no journal can store req. Journals call it
// before they access their data.
func (req *AppendRequest) Validate() error {
	if err := ValidateID(req.ID); err != nil {
		return err
	}
	if len(req.Records) == 0 && len(req.Timers) == 0 {
		return fmt.Errorf("%w: no records", ErrInvalid)
	}
	if err := validateEpoch(req.Epoch); err != nil {
		return err
	}
	if req.Prev > math.MaxInt64-uint64(len(req.Records)) {
		return fmt.Errorf("%w: sequence numbers end at %d", ErrInvalid, math.MaxInt64)
	}
	for i := range req.Records {
		if err := req.validateRecord(i); err != nil {
			return fmt.Errorf("%w (record %d of %d)", err, i+1, len(req.Records))
		}
	}
	for i := range req.Timers {
		if err := req.Timers[i].Validate(); err != nil {
			return err
		}
	}
	return nil
}

func (req *AppendRequest) validateRecord(i int) error {
	r := &req.Records[i]
	if want := req.Prev + uint64(i) + 1; r.Seq != want {
		return fmt.Errorf("%w: sequence number %d, want %d", ErrInvalid, r.Seq, want)
	}
	if r.Epoch != req.Epoch {
		return fmt.Errorf("%w: epoch %d in a request of epoch %d", ErrInvalid, r.Epoch, req.Epoch)
	}
	if err := validateText("the type", r.Type); err != nil {
		return err
	}
	for _, tag := range r.Tags {
		if tag == "" {
			return fmt.Errorf("%w: a tag is empty", ErrInvalid)
		}
		if err := validateText("a tag", tag); err != nil {
			return err
		}
	}
	for key, value := range r.Meta {
		if err := errors.Join(validateText("metadata", key), validateText("metadata", value)); err != nil {
			return err
		}
	}
	return nil
}

// Validate returns [ErrInvalid] with the reason if no store can keep s under id.
func (s *Snapshot) Validate(id string) error {
	if err := ValidateID(id); err != nil {
		return err
	}
	if s.Seq == 0 || s.Seq > math.MaxInt64 {
		return fmt.Errorf("%w: a snapshot at sequence number %d", ErrInvalid, s.Seq)
	}
	if err := validateEpoch(s.Epoch); err != nil {
		return err
	}
	return validateText("the type", s.Type)
}

func validateEpoch(epoch uint64) error {
	if epoch == 0 || epoch > math.MaxInt64 {
		return fmt.Errorf("%w: %d is not an epoch", ErrInvalid, epoch)
	}
	return nil
}

// validateText returns an error for text that some databases do not accept.
func validateText(what, s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%w: %s is not UTF-8: %q", ErrInvalid, what, s)
	}
	if strings.ContainsRune(s, 0) {
		return fmt.Errorf("%w: %s contains NUL: %q", ErrInvalid, what, s)
	}
	return nil
}
