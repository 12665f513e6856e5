package remote

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShortSecretIsRefusedWithAdvice(t *testing.T) {
	_, err := NewKeyring([]byte("0123456789abcde"))
	require.EqualError(t, err, "remote: a secret has 15 bytes, and needs 16 or more, all random; make one with: openssl rand -base64 32")
	_, err = NewKeyring(secret(1), nil)
	require.ErrorContains(t, err, "a secret has 0 bytes")
	k := keyring(t)
	require.Error(t, k.Add(nil))
	require.Error(t, k.Use(nil))
	require.Error(t, k.Remove(nil))
}

func TestKeyringKeepsItsPrimarySecret(t *testing.T) {
	k := keyring(t)
	require.ErrorContains(t, k.Use(secret(2)), "not in the keyring")
	require.ErrorContains(t, k.Remove(secret(1)), "primary")
	require.NoError(t, k.Remove(secret(2)), "it is not there, as it should be")
	require.NoError(t, k.Add(secret(2)))
	require.NoError(t, k.Add(secret(2)))
	require.NoError(t, k.Use(secret(2)))
	require.NoError(t, k.Use(secret(2)))
	require.NoError(t, k.Remove(secret(1)))
	require.ErrorContains(t, k.Use(secret(1)), "not in the keyring")
}

// keyring has secret(1).
func keyring(t *testing.T) *Keyring {
	t.Helper()
	k, err := NewKeyring(secret(1))
	require.NoError(t, err)
	return k
}

func secret(n byte) []byte { return bytes.Repeat([]byte{n}, minSecret) }
