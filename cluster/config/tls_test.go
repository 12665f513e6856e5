package config_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/config"
)

func issue(t *testing.T, cert, key string, serial int64) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}), 0o600))
}

func TestANewCertificateIsUsedWithoutARestart(t *testing.T) {
	cert, key := filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key")
	issue(t, cert, key, 1)
	text := "tls_cert: " + cert + "\ntls_key: " + key + "\ntls_ca: " + cert
	cfg, err := config.FromFile(write(t, "shop.yaml", text), cluster.Config{})
	require.NoError(t, err)
	serial := func() int64 {
		pair, err := cfg.TLS.GetCertificate(nil)
		require.NoError(t, err)
		return pair.Leaf.SerialNumber.Int64()
	}
	require.EqualValues(t, 1, serial())
	issue(t, cert, key, 2)
	require.EqualValues(t, 2, serial())
	require.NoError(t, os.Remove(key))
	require.EqualValues(t, 2, serial(), "the last pair")
	require.NotNil(t, cfg.TLS.RootCAs)
	require.NotNil(t, cfg.TLS.ClientCAs)
}

func withTLS(t *testing.T, cert, key, ca string) {
	t.Helper()
	t.Setenv("SHOP_TLS_CERT", cert)
	t.Setenv("SHOP_TLS_KEY", key)
	t.Setenv("SHOP_TLS_CA", ca)
}

func TestEveryFileOfTLSThatIsWrongIsNamed(t *testing.T) {
	cert, key := filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key")
	issue(t, cert, key, 1)
	withTLS(t, "no.crt", "no.key", "no.pem")
	_, err := config.FromEnv("SHOP_", cluster.Config{})
	for _, want := range []string{
		`SHOP_TLS_CERT is "no.crt", which cannot be read: open no.crt: no such file or directory; allowed is the path of a PEM file with the certificate of this node`,
		`SHOP_TLS_KEY is "no.key", which cannot be read: open no.key: no such file or directory; allowed is the path of a PEM file with the private key of this node`,
		`SHOP_TLS_CA is "no.pem", which cannot be read: open no.pem: no such file or directory; allowed is the path of a PEM file with certificates of authorities`,
	} {
		require.ErrorContains(t, err, want)
	}
	withTLS(t, cert, key, write(t, "empty.pem", ""))
	_, err = config.FromEnv("SHOP_", cluster.Config{})
	require.ErrorContains(t, err, `which has no certificate; allowed is the path of a PEM file with certificates of authorities`)

	other := filepath.Join(t.TempDir(), "other.key")
	issue(t, filepath.Join(t.TempDir(), "other.crt"), other, 2)
	withTLS(t, cert, other, cert)
	t.Setenv("SHOP_DETECTOR", "slow")
	_, err = config.FromEnv("SHOP_", cluster.Config{})
	require.ErrorContains(t, err, `SHOP_TLS_CERT is "`+cert+`" and SHOP_TLS_KEY is "`+other+`", which are no pair: `)
	require.ErrorContains(t, err, "SHOP_DETECTOR", "all at once")
}

func TestTheKeysOfTLSBelongTogether(t *testing.T) {
	cert, key := filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key")
	issue(t, cert, key, 1)
	t.Setenv("SHOP_TLS_CERT", cert)
	_, err := config.FromEnv("SHOP_", cluster.Config{})
	require.EqualError(t, err, `config: SHOP_TLS_CERT is "`+cert+`", without SHOP_TLS_KEY and SHOP_TLS_CA; set all three or none`)
	path := write(t, "shop.yaml", "tls_cert: "+cert+"\ntls_ca: "+cert)
	_, err = config.FromFile(path, cluster.Config{})
	require.EqualError(t, err, "config: "+path+`:1: tls_cert is "`+cert+`" and `+path+`:2: tls_ca is "`+cert+`", without tls_key; set all three or none`)
}

func TestANodeHasCertificatesOrASecret(t *testing.T) {
	cert, key, secret := filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key"), write(t, "secret", "0123456789abcdef")
	issue(t, cert, key, 1)
	t.Setenv("SHOP_SECRET_FILE", secret)
	_, err := config.FromEnv("SHOP_", cluster.Config{TLS: &tls.Config{MinVersion: tls.VersionTLS13}})
	require.EqualError(t, err, `config: SHOP_SECRET_FILE is "`+secret+`", but the base has TLS, and a node has one identity; unset the variable, or leave TLS out of the base`)
	withTLS(t, cert, key, cert)
	_, err = config.FromEnv("SHOP_", cluster.Config{})
	require.EqualError(t, err, `config: SHOP_TLS_CERT is "`+cert+`" and SHOP_SECRET_FILE is "`+secret+`", but a node has one identity; `+
		"leave out SHOP_SECRET_FILE, or SHOP_TLS_CERT and SHOP_TLS_KEY and SHOP_TLS_CA")
	path := write(t, "shop.yaml", "tls_cert: "+cert+"\ntls_key: "+key+"\ntls_ca: "+cert)
	_, err = config.FromFile(path, cluster.Config{Secret: []byte("0123456789abcdef")})
	require.ErrorContains(t, err, `:1: tls_cert is "`+cert+`", but the base has a Secret, and a node has one identity; remove the key`)
}
