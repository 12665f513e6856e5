//go:build linux

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An authority signs certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &authority{t: t, cert: cert, key: key}
}

// certify returns an identity for a host that is valid for some time. With a negative time it has
// expired.
func (a *authority) certify(host string, lasts time.Duration) identity {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), IPAddresses: []net.IP{net.ParseIP(host)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(lasts),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	require.NoError(a.t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(a.t, err)
	return identity{
		Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
		Authority:   pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}),
	}
}

func TestRealNodesAdmitOnlyWhoHasAGoodCertificate(t *testing.T) {
	const nodes = 3
	ours := newAuthority(t)
	var identities []identity
	for n := range nodes + 1 {
		identities = append(identities, ours.certify(host(n), time.Hour))
	}
	s := newStage(t, options{nodes: nodes}, identities)
	as := func(id identity) func(*nodeConfig) {
		return func(cfg *nodeConfig) { cfg.Identity = &id }
	}
	stranger := newAuthority(t).certify(host(nodes), time.Hour)
	stranger.Authority = identities[nodes].Authority
	s.play("AnExpiredCertificate", func(s *stage) {
		s.refused("expired", as(ours.certify(host(nodes), -time.Minute)))
	})
	s.play("OneOfAnotherAuthority", func(s *stage) { s.refused("unknown certificate authority", as(stranger)) })
	s.play("OneOfAnotherHost", func(s *stage) { s.refused(host(nodes), as(ours.certify(host(0), time.Hour))) })
	s.play("NoneAtAll", func(s *stage) { s.refused("TLS", func(cfg *nodeConfig) { cfg.Identity = nil }) })
	s.play("AGoodOneIsAdmitted", func(s *stage) {
		from := clock()
		p, _ := s.extra(as(identities[nodes]))
		s.allSee(s.others(nil), from, 2*time.Second+loaded, "it is up", kind("MemberUp", p.node))
		s.await(clock()+loaded, "it can be asked to leave", func() bool {
			_, err := ask(s.dir, p.node, Request{Leave: true})
			return err == nil
		})
		require.NoError(s.t, p.await(leaveLimit))
		require.NoError(s.t, p.Wait())
	})
	s.finish()
	require.NoError(t, s.verify(t.Context()))
	require.Empty(t, s.violations)
}
