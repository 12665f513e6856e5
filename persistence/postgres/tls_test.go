package postgres_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/postgres"
)

// The connection string says how the client verifies the server; the journal obeys it.
func TestOverTLSTheServerMustProveWhoItIs(t *testing.T) {
	s := pgtest.Create(t)
	cert := selfSigned(t, s, "server")
	other := selfSigned(t, s, "other")
	s.Settings = []string{"ssl=on", "ssl_cert_file=" + cert + ".crt", "ssl_key_file=" + cert + ".key"}
	require.NoError(t, os.WriteFile(filepath.Join(s.Data(), "pg_hba.conf"), []byte("hostssl all all 127.0.0.1/32 trust\n"), 0o644))
	s.Run(t)

	j := openAt(t, s.URL()+"?sslmode=verify-full&sslrootcert="+cert+".crt")
	o, err := own(j, "x")
	require.NoError(t, err)
	require.NoError(t, appendOne(t, j, o.next()))
	require.Equal(t, []string{string(o.next().Records[0].Payload)}, payloads(t, j, "x"))

	_, err = postgres.Open(t.Context(), s.URL()+"?sslmode=verify-full&sslrootcert="+other+".crt")
	require.ErrorIs(t, err, journal.ErrUnavailable)
	require.ErrorContains(t, err, "certificate")
	_, err = postgres.Open(t.Context(), s.URL()+"?sslmode=disable")
	require.ErrorIs(t, err, journal.ErrUnavailable, "this server takes no others")
}

// selfSigned makes a certificate and its key, and returns their path without extension.
func selfSigned(t *testing.T, s *pgtest.Server, name string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	path := filepath.Join(s.Dir(), name)
	for file, block := range map[string]*pem.Block{
		path + ".crt": {Type: "CERTIFICATE", Bytes: cert},
		path + ".key": {Type: "PRIVATE KEY", Bytes: secret},
	} {
		require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
		s.Own(t, file)
	}
	return path
}
