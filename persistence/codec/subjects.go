package codec

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/understudy-go/understudy/persistence/journal"
)

// ErrForgotten: the key of a subject has been destroyed, and it gets no other one.
var ErrForgotten = errors.New("persistence: the subject was forgotten")

// Keys keeps one key for each subject of [NewSubjects]. [NewSQLKeys] keeps them in a database. All
// methods may be called from any goroutine, and are called by all nodes.
//
// A subject is named by its [SubjectID]. Keep the keys, and their backups, apart from the journal:
// the backup of a key is enough to read what it has encrypted.
type Keys interface {
	// Find returns the key of a subject: [KeySize] bytes. It returns nil if the subject has never
	// had one, and an error that wraps [ErrForgotten] once its key has been destroyed.
	Find(ctx context.Context, subject string) (key []byte, err error)
	// Add gives a subject the key, if it has none, and returns the one that it has then. It fails
	// as Find does.
	Add(ctx context.Context, subject string, key []byte) (had []byte, err error)
	// Destroy erases the key of a subject, which never has one again. It returns nil if that was
	// done before, or if the subject never had a key.
	Destroy(ctx context.Context, subject string) error
}

// NewSubjects returns a codec that encrypts each payload with the key of its subject, such as the
// customer whose data it is. Once [Subjects.Forget] has destroyed the key, nobody can read the
// payloads of the subject, in the journal or in any backup of it. They are read as shredded, see
// [journal.Record]: a recovery leaves them out, and a projection passes over them.
//
// of returns the subject of a payload, for instance from its persistence id or from its tags. For
// "" the payload is stored as it is. It must always return the same for one payload. nil stands
// for the persistence id. A snapshot has no tags: if the events of one id have several subjects,
// its snapshots keep what the state says of each, so keep none, or keep no such data in the state.
//
// The first payload of a subject makes its key. A key is remembered for [KeyTTL], and for so long
// another process may still read what has been forgotten. [NewEncryption] says how payloads are
// encrypted, and what that does not hide. Each payload grows by about 75 bytes. The journal has the
// [SubjectID] of the subject, but not its name.
func NewSubjects(keys Keys, of func(at PayloadID) (subject string)) *Subjects {
	if keys == nil {
		panic("persistence: subjects without keys")
	}
	if of == nil {
		of = func(at PayloadID) string { return at.ID }
	}
	return &Subjects{keys: keys, of: of, known: map[subjectID]knownKey{}}
}

// Subjects is a [Codec] with a key for each subject; make one with [NewSubjects].
type Subjects struct {
	keys Keys
	of   func(at PayloadID) string

	mu      sync.Mutex // guards all below
	known   map[subjectID]knownKey
	forgets int // how many keys have been destroyed here
}

type knownKey struct {
	cipher *cipherKey
	until  time.Time
}

// KeyTTL is how long a key is remembered after it was read.
const KeyTTL = time.Minute

const (
	maxKnownKeys   = 1 << 17
	subjectKeyTime = 10 * time.Second // for a call of Keys
)

// Forget destroys the key of a subject. It cannot be undone. To write for that subject again is
// refused with [ErrForgotten].
//
// It erases nothing from read models: delete there what they have about the subject.
func (s *Subjects) Forget(ctx context.Context, subject string) error {
	id := idOfSubject(subject)
	if err := s.keys.Destroy(ctx, id.String()); err != nil {
		return fmt.Errorf("forget subject %s: %w", id, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, id)
	s.forgets++
	return nil
}

// Name implements [Codec].
func (s *Subjects) Name() string { return "subjects-1" }

// Encode implements [Codec].
func (s *Subjects) Encode(at PayloadID, payload []byte) ([]byte, error) {
	subject := s.of(at)
	if subject == "" {
		return append([]byte{0}, payload...), nil
	}
	id := idOfSubject(subject)
	k, err := s.key(id, true)
	if err != nil {
		return nil, err
	}
	return k.seal(append([]byte{1}, id[:]...), at, payload)
}

// Decode implements [Codec]. A payload must be for the subject that it is written for: otherwise
// somebody who can write to the journal could replace it by one that is not encrypted, or by one of
// a subject that is forgotten.
func (s *Subjects) Decode(at PayloadID, data []byte) ([]byte, error) {
	subject := s.of(at)
	switch {
	case subject == "" && len(data) > 0 && data[0] == 0:
		return data[1:], nil
	case subject == "" || len(data) <= len(subjectID{}) || data[0] != 1:
		return nil, fmt.Errorf("%w: not encrypted for its subject", journal.ErrCorrupt)
	}
	id := subjectID(data[1:])
	if id != idOfSubject(subject) {
		return nil, fmt.Errorf("%w: encrypted for subject %s, which is not its own", journal.ErrCorrupt, id)
	}
	k, err := s.key(id, false)
	if err != nil {
		return nil, err
	}
	payload, err := k.open(at, data[1+len(id):])
	if err != nil {
		return nil, fmt.Errorf("%w: what was encrypted for subject %s has been changed, or belongs elsewhere: %w", journal.ErrCorrupt, id, err)
	}
	return payload, nil
}

func (s *Subjects) key(id subjectID, adds bool) (*cipherKey, error) {
	s.mu.Lock()
	known, ok := s.known[id]
	forgets := s.forgets
	s.mu.Unlock()
	now := time.Now()
	if ok && now.Before(known.until) {
		return known.cipher, nil
	}
	// A codec gets no context. The journal does not wait longer for a key than for a while.
	ctx, cancel := context.WithTimeout(context.Background(), subjectKeyTime)
	defer cancel()
	k, err := s.read(ctx, id, adds)
	if err != nil {
		return nil, fmt.Errorf("key of subject %s: %w", id, err)
	}
	s.remember(id, knownKey{k, now.Add(KeyTTL)}, forgets)
	return k, nil
}

func (s *Subjects) read(ctx context.Context, id subjectID, adds bool) (*cipherKey, error) {
	key, err := s.keys.Find(ctx, id.String())
	if err == nil && key == nil && adds {
		key, err = s.keys.Add(ctx, id.String(), newKey())
	}
	switch {
	case errors.Is(err, ErrForgotten):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", journal.ErrUnavailable, err)
	case key == nil:
		return nil, fmt.Errorf("%w: there is no key, and no key was destroyed: these are not the keys that the journal was written with", journal.ErrCodec)
	}
	return newCipherKey(key)
}

// If there are too many, it forgets any one. A key that was read while one was destroyed may be
// that one: it is used once, and not remembered.
func (s *Subjects) remember(id subjectID, k knownKey, forgets int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forgets != forgets {
		return
	}
	if len(s.known) >= maxKnownKeys {
		for one := range s.known {
			delete(s.known, one)
			break
		}
	}
	s.known[id] = k
}

// SubjectID returns the hash by which a journal and [Keys] name a subject: 32 hexadecimal digits.
func SubjectID(subject string) string { return idOfSubject(subject).String() }

type subjectID [16]byte

func (id subjectID) String() string { return hex.EncodeToString(id[:]) }

func idOfSubject(subject string) subjectID {
	sum := sha256.Sum256([]byte("understudy subject 1\x00" + subject))
	return subjectID(sum[:])
}
