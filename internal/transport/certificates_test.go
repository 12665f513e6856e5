package transport_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/remote"
)

// An authority signs certificates.
type authority struct {
	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	next int64
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "authority"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(1000 * time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &authority{t: t, cert: cert, key: key, next: 1}
}

// certify returns a certificate for a host.
func (a *authority) certify(host string, change ...func(*x509.Certificate)) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	a.next++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.next),
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(100 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	for _, f := range change {
		f(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	require.NoError(a.t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// config returns what a node needs that has a certificate and trusts the authority.
func (a *authority) config(own tls.Certificate) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{own}, RootCAs: a.pool(), ClientCAs: a.pool()}
}

// node gives a node a certificate for a host.
func (a *authority) node(host string, change ...func(*x509.Certificate)) func(*transport.Config) {
	return func(cfg *transport.Config) { cfg.TLS = a.config(a.certify(host, change...)) }
}

// secret returns a secret of 32 bytes.
func secret(first byte) []byte {
	b := make([]byte, 32)
	for i := range b {
		b[i] = first + byte(i)
	}
	return b
}

func keyring(t testing.TB, primary []byte, others ...[]byte) *remote.Keyring {
	t.Helper()
	k, err := remote.NewKeyring(primary, others...)
	require.NoError(t, err)
	return k
}

// ring gives a node a keyring.
func ring(k *remote.Keyring) func(*transport.Config) {
	return func(cfg *transport.Config) { cfg.Keyring = k }
}
