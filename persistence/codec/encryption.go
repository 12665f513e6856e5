package codec

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"github.com/understudy-go/understudy/persistence/journal"
)

// KeySize is the size of the keys of [NewEncryption], in bytes.
const KeySize = 32

// NewEncryption returns a codec that encrypts payloads by AES-256-GCM. All is written with
// key; what was written with a former one can be read. So a key is replaced by making it
// a former one, and forgotten when nothing is left that was written with it.
//
// Keys are [KeySize] random bytes, never a password. They are told apart by [KeyID], which
// is stored with each payload: one that is missing is a [*KeyError] that names it.
//
// A payload is bound to its place: to its persistence id, sequence number, epoch, type, and
// to being an event or a snapshot. Moved elsewhere, or with a bit changed, it is
// [journal.ErrCorrupt]. What is not hidden: ids, types, tags, metadata, times, lengths. What is not
// noticed: that the whole journal was replaced by an older copy of itself.
//
// Each payload is about 60 bytes longer than before.
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
// Encryption must be deterministic here, as a request that is sent again has to be the
// same, so there is no random nonce; and a nonce made of the place alone would be used
// twice by a writer whose first attempt was refused and that then writes something else
// there. So the nonce is made of both: an HMAC, under a key of its own, of the place and
// the payload (a synthetic IV). The same nonce therefore means the same payload at the same
// place, which shows nothing but that it is the same. It has 192 bits and gives each payload
// a key of its own, so that no number of payloads brings a collision near.
type Encryption struct {
	current *cipherKey
	keys    map[[keyIDSize]byte]*cipherKey
}

// A KeyError says which key is missing. It wraps [journal.ErrCodec].
type KeyError struct {
	Key string // as KeyID has it
}

// Error names the key by its [KeyID], and says where to give it.
func (e *KeyError) Error() string {
	return fmt.Sprintf("%v: the key %s is missing; give it to NewEncryption as a former one", journal.ErrCodec, e.Key)
}

// Unwrap returns [journal.ErrCodec].
func (e *KeyError) Unwrap() error { return journal.ErrCodec }

// KeyID returns the name under which payloads remember key: a hash that gives nothing of
// it away.
func KeyID(key []byte) (string, error) {
	k, err := newCipherKey(key)
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(k.id[:]), nil
}

// Name implements [Codec].
func (e *Encryption) Name() string { return "aes-gcm-1" }

// Encode implements [Codec].
func (e *Encryption) Encode(at PayloadID, payload []byte) ([]byte, error) {
	k, bound := e.current, at.bytes()
	nonce := k.nonce(bound, payload)
	aead, err := k.aead(nonce)
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, keyIDSize+nonceSize+len(payload)+aead.Overhead())
	data = append(append(data, k.id[:]...), nonce...)
	return aead.Seal(data, nonce[:aead.NonceSize()], payload, bound), nil
}

// Decode implements [Codec].
func (e *Encryption) Decode(at PayloadID, data []byte) ([]byte, error) {
	if len(data) < keyIDSize+nonceSize {
		return nil, fmt.Errorf("%w: too short for what was encrypted", journal.ErrCorrupt)
	}
	id := [keyIDSize]byte(data)
	nonce, sealed := data[keyIDSize:][:nonceSize], data[keyIDSize+nonceSize:]
	k := e.keys[id]
	if k == nil {
		return nil, &KeyError{Key: hex.EncodeToString(id[:])}
	}
	aead, err := k.aead(nonce)
	if err != nil {
		return nil, err
	}
	payload, err := aead.Open(nil, nonce[:aead.NonceSize()], sealed, at.bytes())
	if err != nil {
		return nil, fmt.Errorf("%w: what was encrypted with key %x has been changed, or belongs elsewhere: %w", journal.ErrCorrupt, id, err)
	}
	return payload, nil
}

const (
	keyIDSize = 8
	nonceSize = 24
)

// A cipherKey is what is derived from one key.
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

// nonce returns a number that no other payload or place has.
func (k *cipherKey) nonce(bound, payload []byte) []byte {
	h := hmac.New(sha256.New, k.mac)
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(bound))))
	h.Write(bound)
	h.Write(payload)
	return h.Sum(nil)[:nonceSize]
}

// aead returns the cipher for one nonce, with a key of its own.
func (k *cipherKey) aead(nonce []byte) (cipher.AEAD, error) {
	h := hmac.New(sha256.New, k.cipher)
	h.Write(nonce)
	block, err := aes.NewCipher(h.Sum(nil))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// bytes returns p as bytes that no other place has.
func (p PayloadID) bytes() []byte {
	b := appendString(make([]byte, 0, 128), p.ID)
	b = binary.LittleEndian.AppendUint64(b, p.Seq)
	b = binary.LittleEndian.AppendUint64(b, p.Epoch)
	b = appendString(b, p.Type)
	if p.Snapshot {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
