package codec

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/understudy-go/understudy/persistence/journal"
)

// KeySize is the size of the keys of [NewEncryption], in bytes.
const KeySize = 32

// NewEncryption returns a codec that encrypts payloads with AES-256, and authenticates them with
// HMAC-SHA256. It writes with key, and reads payloads that were written with key or a former key.
// To replace a key, make it a former key; drop it when no payload is left that was written with it.
//
// Keys are [KeySize] random bytes, never a password. The [KeyID] of the key is stored with each
// payload; reading with a missing key fails with a [*KeyError] that names it.
//
// A payload is bound to its [PayloadID], except the tags. If it is moved elsewhere, or a bit is
// changed, reading it fails with [journal.ErrCorrupt]. Encryption does not hide ids, types, tags,
// metadata, times and lengths. It does not detect that the whole journal was replaced by an older
// copy.
//
// Each payload grows by about 45 bytes. All that it needs is approved for FIPS 140-3, and allowed
// by GODEBUG=fips140=only.
func NewEncryption(key []byte, former ...[]byte) (*Encryption, error) {
	e := &Encryption{keys: map[[keyIDSize]byte]*cipherKey{}}
	for i, secret := range append([][]byte{key}, former...) {
		k, err := newCipherKey(secret)
		if err != nil {
			return nil, fmt.Errorf("key %d of %d: %w", i+1, len(former)+1, err)
		}
		if i == 0 {
			e.current = k
		}
		e.keys[k.id] = k
	}
	return e, nil
}

// An Encryption is a [Codec] that encrypts; make one with [NewEncryption].
//
// Encryption must be deterministic, because a repeated request must have the same bytes, so there
// is no random nonce. A nonce derived from the PayloadID alone would not be unique: a writer whose
// first request was refused may write something else under the same number. The nonce is therefore
// a synthetic IV, as in RFC 5297: an HMAC, with a separate key, of the PayloadID and the payload.
// It is also the tag, which is computed again from what was decrypted. Equal nonces reveal only
// that the payloads are equal. The nonce has 192 bits and determines a separate key of AES in
// counter mode for each payload, so that collisions are not a concern.
type Encryption struct {
	current *cipherKey
	keys    map[[keyIDSize]byte]*cipherKey
}

// A KeyError names a missing key. Give it to [NewEncryption] as a former key while payloads need
// it. It wraps [journal.ErrCodec].
type KeyError struct {
	Key string // its [KeyID]
}

// Error names the key and tells how to provide it.
func (e *KeyError) Error() string {
	return fmt.Sprintf("%v: the key %s is missing; give it to NewEncryption as a former one", journal.ErrCodec, e.Key)
}

// Unwrap returns [journal.ErrCodec].
func (e *KeyError) Unwrap() error { return journal.ErrCodec }

// KeyID returns the hash of key that is stored with each payload. It reveals nothing about key. It
// fails with [journal.ErrInvalid] unless key has [KeySize] bytes.
func KeyID(key []byte) (string, error) {
	k, err := newCipherKey(key)
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(k.id[:]), nil
}

// Name implements [Codec].
func (e *Encryption) Name() string { return "aes-siv-1" }

// Encode implements [Codec].
func (e *Encryption) Encode(at PayloadID, payload []byte) ([]byte, error) {
	return e.current.seal(e.current.id[:], at, payload)
}

// Decode implements [Codec].
func (e *Encryption) Decode(at PayloadID, data []byte) ([]byte, error) {
	if len(data) < keyIDSize+nonceSize {
		return nil, fmt.Errorf("%w: too short for what was encrypted", journal.ErrCorrupt)
	}
	id := [keyIDSize]byte(data)
	k := e.keys[id]
	if k == nil {
		return nil, &KeyError{Key: hex.EncodeToString(id[:])}
	}
	payload, err := k.open(at, data[keyIDSize:])
	if err != nil {
		return nil, fmt.Errorf("%w: what was encrypted with key %x has been changed, or belongs elsewhere: %w", journal.ErrCorrupt, id, err)
	}
	return payload, nil
}

const (
	keyIDSize = 8
	nonceSize = 24
)

type cipherKey struct {
	id          [keyIDSize]byte
	mac, cipher []byte
}

func newCipherKey(key []byte) (*cipherKey, error) {
	if len(key) != KeySize {
		return nil, fmt.Errorf("%w: a key has %d random bytes, this one %d", journal.ErrInvalid, KeySize, len(key))
	}
	derived, err := hkdf.Key(sha256.New, key, nil, "understudy payload encryption 1", keyIDSize+2*KeySize)
	if err != nil {
		return nil, err
	}
	k := &cipherKey{id: [keyIDSize]byte(derived), mac: derived[keyIDSize:][:KeySize], cipher: derived[keyIDSize+KeySize:]}
	return k, nil
}

// seal returns head, the nonce, and the payload encrypted.
func (k *cipherKey) seal(head []byte, at PayloadID, payload []byte) ([]byte, error) {
	nonce := k.nonce(at, payload)
	stream, err := k.stream(nonce)
	if err != nil {
		return nil, err
	}
	data := slices.Concat(head, nonce, payload)
	encrypted := data[len(data)-len(payload):]
	stream.XORKeyStream(encrypted, encrypted)
	return data, nil
}

var errForged = errors.New("it does not have its tag")

// open returns the payload of what follows the head.
func (k *cipherKey) open(at PayloadID, data []byte) ([]byte, error) {
	if len(data) < nonceSize {
		return nil, errors.New("it is too short")
	}
	nonce := data[:nonceSize]
	stream, err := k.stream(nonce)
	if err != nil {
		return nil, err
	}
	payload := make([]byte, len(data)-nonceSize)
	stream.XORKeyStream(payload, data[nonceSize:])
	if !hmac.Equal(nonce, k.nonce(at, payload)) {
		return nil, errForged
	}
	return payload, nil
}

func newKey() []byte {
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // it never fails
	return key
}

// nonce returns a number that no other payload or PayloadID has.
func (k *cipherKey) nonce(at PayloadID, payload []byte) []byte {
	bound := at.bytes()
	h := hmac.New(sha256.New, k.mac)
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(bound))))
	h.Write(bound)
	h.Write(payload)
	return h.Sum(nil)[:nonceSize]
}

// stream returns the key stream for one nonce. Each nonce has a key of its own.
func (k *cipherKey) stream(nonce []byte) (cipher.Stream, error) {
	h := hmac.New(sha256.New, k.cipher)
	h.Write(nonce)
	block, err := aes.NewCipher(h.Sum(nil))
	if err != nil {
		return nil, err
	}
	return cipher.NewCTR(block, nonce[:aes.BlockSize]), nil
}

// bytes returns an encoding of p without its tags, which no other PayloadID has.
func (p PayloadID) bytes() []byte {
	b := appendString(make([]byte, 0, 128), p.ID)
	b = binary.LittleEndian.AppendUint64(b, p.Seq)
	b = binary.LittleEndian.AppendUint64(b, p.Epoch)
	b = appendString(b, p.Type)
	switch {
	case p.Timer != "":
		b = appendString(append(b, 2), p.Timer)
		b = binary.LittleEndian.AppendUint64(b, uint64(p.Due.Unix()))
		return binary.LittleEndian.AppendUint32(b, uint32(p.Due.Nanosecond()))
	case p.Snapshot:
		return append(b, 1)
	case p.Keys:
		return append(b, 3)
	}
	return append(b, 0)
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
