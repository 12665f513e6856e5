package persistence_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/memory"
)

var (
	keyA = bytes.Repeat([]byte("A"), persistence.KeySize)
	keyB = bytes.Repeat([]byte("B"), persistence.KeySize)
	here = persistence.Place{ID: "x", Seq: 7, Epoch: 3, Type: "event"}
)

func encryption(t testing.TB, key []byte, former ...[]byte) *persistence.Encryption {
	t.Helper()
	e, err := persistence.NewEncryption(key, former...)
	require.NoError(t, err)
	return e
}

func encrypt(t testing.TB, c persistence.Codec, at persistence.Place, payload string) []byte {
	t.Helper()
	data, err := c.Encode(at, []byte(payload))
	require.NoError(t, err)
	return data
}

func TestWhatIsEncryptedIsUnreadableWithoutTheKeyAndComesBackWithIt(t *testing.T) {
	inner := memory.New()
	j := persistence.WithCodec(inner, encryption(t, keyA))
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
	inner := memory.New()
	appendOne(t, persistence.WithCodec(inner, encryption(t, keyA)), "x", "a")
	_, err := payloadsOfX(t, persistence.WithCodec(inner, encryption(t, keyB)))
	var missing *persistence.KeyError
	require.ErrorAs(t, err, &missing)
	name, nameErr := persistence.KeyID(keyA)
	require.NoError(t, nameErr)
	require.Equal(t, name, missing.Key)
	require.ErrorIs(t, err, persistence.ErrCodec)
	require.NotErrorIs(t, err, persistence.ErrCorrupt)
}

func TestAFormerKeyIsReadWhileTheNewOneIsWritten(t *testing.T) {
	inner := memory.New()
	appendOne(t, persistence.WithCodec(inner, encryption(t, keyA)), "x", "a")
	rotated := persistence.WithCodec(inner, encryption(t, keyB, keyA))
	appendOne(t, rotated, "x", "b")
	all, err := payloadsOfX(t, rotated)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, all)
	all, err = payloadsOfX(t, persistence.WithCodec(inner, encryption(t, keyA)))
	require.ErrorIs(t, err, persistence.ErrCodec)
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
				require.ErrorIs(t, err, persistence.ErrCodec, "it seems to be of another key")
			} else {
				require.ErrorIs(t, err, persistence.ErrCorrupt, "byte %d", i)
			}
		}
		_, err := e.Decode(here, data[:i])
		require.ErrorIs(t, err, persistence.ErrCorrupt, "cut off at %d", i)
	}
}

func TestAPayloadThatWasMovedIsNotDelivered(t *testing.T) {
	e := encryption(t, keyA)
	data := encrypt(t, e, here, "the secret")
	for _, move := range []func(*persistence.Place){
		func(p *persistence.Place) { p.ID = "y" },
		func(p *persistence.Place) { p.Seq++ },
		func(p *persistence.Place) { p.Epoch++ },
		func(p *persistence.Place) { p.Type = "other" },
		func(p *persistence.Place) { p.Snapshot = true },
	} {
		there := here
		move(&there)
		_, err := e.Decode(there, data)
		require.ErrorIs(t, err, persistence.ErrCorrupt)
	}
}

func TestARecordThatWasCopiedToAnotherIDIsDamaged(t *testing.T) {
	inner := memory.New()
	j := persistence.WithCodec(inner, encryption(t, keyA))
	appendOne(t, j, "of somebody", "a secret")
	for r, err := range inner.Read(t.Context(), "of somebody", 1, 1) {
		require.NoError(t, err)
		appendOne(t, inner, "x", string(r.Payload))
	}
	_, err := payloadsOfX(t, j)
	require.ErrorIs(t, err, persistence.ErrCorrupt)
}

// The law of retries: what is sent again is the same.
func TestThePayloadOfAPlaceIsAlwaysTheSameBytes(t *testing.T) {
	require.Equal(t, encrypt(t, encryption(t, keyA), here, "a"), encrypt(t, encryption(t, keyA, keyB), here, "a"))
}

// A writer whose request was refused writes something else in its place, under the same
// epoch: were the nonce of the place alone, it would give away both.
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
	_, err := persistence.NewEncryption(keyA, []byte("password"))
	require.ErrorIs(t, err, persistence.ErrInvalid)
	require.ErrorContains(t, err, "key 2 of 2")
	require.ErrorContains(t, err, "32 random bytes, this one 8")
	_, err = persistence.KeyID(nil)
	require.ErrorIs(t, err, persistence.ErrInvalid)
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
