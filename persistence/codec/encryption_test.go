package codec_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/codec"
	"github.com/understudy-go/understudy/persistence/journal"
)

var (
	keyA = bytes.Repeat([]byte("A"), codec.KeySize)
	keyB = bytes.Repeat([]byte("B"), codec.KeySize)
	here = codec.PayloadID{ID: "x", Seq: 7, Epoch: 3, Type: "event"}
)

func encryption(t testing.TB, key []byte, former ...[]byte) *codec.Encryption {
	t.Helper()
	e, err := codec.NewEncryption(key, former...)
	require.NoError(t, err)
	return e
}

func encrypt(t testing.TB, c codec.Codec, at codec.PayloadID, payload string) []byte {
	t.Helper()
	data, err := c.Encode(at, []byte(payload))
	require.NoError(t, err)
	return data
}

func TestWhatIsEncryptedIsUnreadableWithoutTheKeyAndComesBackWithIt(t *testing.T) {
	inner := journal.NewMemory()
	j := codec.Wrap(inner, encryption(t, keyA))
	appendOne(t, j, "x", "the secret")
	stored, err := payloadsOfX(t, inner)
	require.NoError(t, err)
	require.NotContains(t, stored[0], "secret")
	require.LessOrEqual(t, len(stored[0]), len("the secret")+60)
	all, err := payloadsOfX(t, j)
	require.NoError(t, err)
	require.Equal(t, []string{"the secret"}, all)
}

func TestAMissingKeyIsNamed(t *testing.T) {
	inner := journal.NewMemory()
	appendOne(t, codec.Wrap(inner, encryption(t, keyA)), "x", "a")
	_, err := payloadsOfX(t, codec.Wrap(inner, encryption(t, keyB)))
	var missing *codec.KeyError
	require.ErrorAs(t, err, &missing)
	name, nameErr := codec.KeyID(keyA)
	require.NoError(t, nameErr)
	require.Equal(t, name, missing.Key)
	require.ErrorIs(t, err, journal.ErrCodec)
	require.NotErrorIs(t, err, journal.ErrCorrupt)
}

func TestAFormerKeyIsReadWhileTheNewOneIsWritten(t *testing.T) {
	inner := journal.NewMemory()
	appendOne(t, codec.Wrap(inner, encryption(t, keyA)), "x", "a")
	rotated := codec.Wrap(inner, encryption(t, keyB, keyA))
	appendOne(t, rotated, "x", "b")
	all, err := payloadsOfX(t, rotated)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, all)
	all, err = payloadsOfX(t, codec.Wrap(inner, encryption(t, keyA)))
	require.ErrorIs(t, err, journal.ErrCodec)
	require.Equal(t, []string{"a"}, all)
}

func TestATamperedPayloadIsNotDelivered(t *testing.T) {
	e := encryption(t, keyA)
	data := encrypt(t, e, here, "the secret")
	for i := range data {
		for _, bit := range []byte{1, 0x80} {
			tampered := slices.Clone(data)
			tampered[i] ^= bit
			_, err := e.Decode(here, tampered)
			if i < 8 {
				require.ErrorIs(t, err, journal.ErrCodec, "it seems to be of another key")
			} else {
				require.ErrorIs(t, err, journal.ErrCorrupt, "byte %d", i)
			}
		}
		_, err := e.Decode(here, data[:i])
		require.ErrorIs(t, err, journal.ErrCorrupt, "cut off at %d", i)
	}
}

func TestAPayloadThatWasMovedIsNotDelivered(t *testing.T) {
	e := encryption(t, keyA)
	data := encrypt(t, e, here, "the secret")
	for _, move := range []func(*codec.PayloadID){
		func(p *codec.PayloadID) { p.ID = "y" },
		func(p *codec.PayloadID) { p.Seq++ },
		func(p *codec.PayloadID) { p.Epoch++ },
		func(p *codec.PayloadID) { p.Type = "other" },
		func(p *codec.PayloadID) { p.Snapshot = true },
		func(p *codec.PayloadID) { p.Timer = "key" },
	} {
		there := here
		move(&there)
		_, err := e.Decode(there, data)
		require.ErrorIs(t, err, journal.ErrCorrupt)
	}
}

func TestARecordThatWasCopiedToAnotherIDIsDamaged(t *testing.T) {
	inner := journal.NewMemory()
	j := codec.Wrap(inner, encryption(t, keyA))
	appendOne(t, j, "of somebody", "a secret")
	for r, err := range inner.Read(t.Context(), "of somebody", 1, 1) {
		require.NoError(t, err)
		appendOne(t, inner, "x", string(r.Payload))
	}
	_, err := payloadsOfX(t, j)
	require.ErrorIs(t, err, journal.ErrCorrupt)
}

// The law of retries: a repeated request has the same bytes.
func TestThePayloadOfAPlaceIsAlwaysTheSameBytes(t *testing.T) {
	require.Equal(t, encrypt(t, encryption(t, keyA), here, "a"), encrypt(t, encryption(t, keyA, keyB), here, "a"))
}

// A writer whose request was refused writes something else with the same number and epoch. If the
// nonce depended only on these, it would reveal both payloads.
func TestNoNonceIsUsedForTwoPayloads(t *testing.T) {
	e := encryption(t, keyA)
	there := here
	there.Seq++
	seen := map[string]bool{}
	for _, data := range [][]byte{
		encrypt(t, e, here, "a"), encrypt(t, e, here, "b"), encrypt(t, e, here, ""), encrypt(t, e, there, "a"),
		encrypt(t, encryption(t, keyB), here, "a"),
	} {
		nonce := string(data[8:32])
		require.False(t, seen[nonce])
		seen[nonce] = true
	}
}

func TestAKeyOfAnotherSizeIsRefused(t *testing.T) {
	_, err := codec.NewEncryption(keyA, []byte("password"))
	require.ErrorIs(t, err, journal.ErrInvalid)
	require.ErrorContains(t, err, "key 2 of 2")
	require.ErrorContains(t, err, "32 random bytes, this one 8")
	_, err = codec.KeyID(nil)
	require.ErrorIs(t, err, journal.ErrInvalid)
}

func FuzzDecryptNeverPanics(f *testing.F) {
	e := encryption(f, keyA)
	f.Add(encrypt(f, e, here, "a"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		if payload, err := e.Decode(here, data); err == nil {
			require.Equal(t, encrypt(t, e, here, string(payload)), data)
		}
	})
}

func BenchmarkEncryption(b *testing.B) {
	e := encryption(b, keyA)
	payload := make([]byte, 100)
	b.SetBytes(100)
	for b.Loop() {
		data, err := e.Encode(here, payload)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := e.Decode(here, data); err != nil {
			b.Fatal(err)
		}
	}
}
