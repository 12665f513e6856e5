package config_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
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
	"github.com/understudy-go/understudy/cluster/downing"
)

// write returns the path of a new file.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

const file = `
name: shop
node_id: n1
bind: 0.0.0.0:7355
advertise: n1.shop.internal:7355
seeds:
  - n1.shop.internal:7355
  - n2.shop.internal:7355
roles: [web, worker]
min_seeds: 3
min_members: 2
detector: wan
downing: static-quorum=2
`

func settings() cluster.Config {
	return cluster.Config{
		Name: "shop", NodeID: "n1", Bind: "0.0.0.0:7355", Advertise: "n1.shop.internal:7355",
		Seeds: []string{"n1.shop.internal:7355", "n2.shop.internal:7355"}, Roles: []string{"web", "worker"},
		MinSeeds: 3, MinMembers: 2, Detector: cluster.WAN(), Downing: downing.StaticQuorum{Size: 2},
	}
}

func TestTheEnvironmentAndAFileSayTheSame(t *testing.T) {
	for name, value := range map[string]string{
		"NAME": "shop", "NODE_ID": "n1", "BIND": "0.0.0.0:7355", "ADVERTISE": "n1.shop.internal:7355",
		"SEEDS": "n1.shop.internal:7355, n2.shop.internal:7355", "ROLES": "web,worker",
		"MIN_SEEDS": "3", "MIN_MEMBERS": "2", "DETECTOR": "wan", "DOWNING": "static-quorum=2",
		"PORT": "tcp://10.0.0.1:80", // which Kubernetes sets for a service that is called shop
	} {
		t.Setenv("SHOP_"+name, value)
	}
	cfg, err := config.FromEnv("SHOP_", cluster.Config{})
	require.NoError(t, err)
	require.Equal(t, settings(), cfg)
	cfg, err = config.FromFile(write(t, "shop.yaml", file), cluster.Config{})
	require.NoError(t, err)
	require.Equal(t, settings(), cfg)
	cfg, err = config.FromFile(write(t, "shop.json", `{"name": "shop", "roles": ["web"], "min_seeds": 3}`), cluster.Config{})
	require.NoError(t, err)
	require.Equal(t, cluster.Config{Name: "shop", Roles: []string{"web"}, MinSeeds: 3}, cfg)
}

func TestWhatIsNotSetIsThatOfTheBase(t *testing.T) {
	base := cluster.Config{Name: "shop", Roles: []string{"web"}, MinMembers: 2, Downing: downing.KeepOldest{KeepAlone: true}}
	t.Setenv("SHOP_BIND", "127.0.0.1:1")
	t.Setenv("SHOP_ROLES", "")
	want := base
	want.Bind = "127.0.0.1:1"
	cfg, err := config.FromEnv("SHOP_", base)
	require.NoError(t, err)
	require.Equal(t, want, cfg)
	cfg, err = config.FromFile(write(t, "shop.yaml", "bind: 127.0.0.1:1\nroles:\nname: ''"), base)
	require.NoError(t, err)
	require.Equal(t, want, cfg)
	cfg, err = config.FromFile(write(t, "empty.yaml", ""), base)
	require.NoError(t, err)
	require.Equal(t, base, cfg)
}

func TestEveryErrorNamesTheKeyItsValueAndWhatIsAllowed(t *testing.T) {
	wants := []string{"allowed is host:port"}
	for name, of := range map[string]struct{ value, want string }{
		"NAME":        {"a b", `SHOP_NAME is "a b", which`},
		"BIND":        {"everywhere", `SHOP_BIND is "everywhere", which`},
		"SEEDS":       {"n1:7355,n2", `SHOP_SEEDS is "n2", which`},
		"MIN_SEEDS":   {"-1", `SHOP_MIN_SEEDS is "-1", which is not a count; allowed is a whole number, 0 or more`},
		"DETECTOR":    {"slow", `SHOP_DETECTOR is "slow", which is not a preset; allowed is lan, wan or local`},
		"DOWNING":     {"static-quorum", `SHOP_DOWNING is "static-quorum", whose SIZE is not more than half of the members; allowed is keep-majority,`},
		"SECRET_FILE": {"/nowhere", `SHOP_SECRET_FILE is "/nowhere", which cannot be read: open /nowhere:`},
		"TLS_CERT":    {"cert.pem", "SHOP_TLS_CERT is set without tls_key and tls_ca; set all three"},
	} {
		t.Setenv("SHOP_"+name, of.value)
		wants = append(wants, of.want)
	}
	_, err := config.FromEnv("SHOP_", cluster.Config{})
	for _, want := range wants {
		require.ErrorContains(t, err, want, "all at once")
	}
}

func TestErrorsOfAFileNameTheLineAndUnknownKeys(t *testing.T) {
	path := write(t, "shop.yaml", "bnid: here\nseeds: n1:7355\ndowning: keep-referee=\n")
	cfg, err := config.FromFile(path, cluster.Config{Name: "shop"})
	require.ErrorContains(t, err, path+`:1: there is no key "bnid"; the keys are name, node_id, bind,`)
	require.ErrorContains(t, err, path+`:2: seeds must be a list of host:port, such as n1.shop.internal:7355: it is not a list`)
	require.ErrorContains(t, err, path+`:3: downing is "keep-referee=", which is not a strategy; allowed is keep-majority,`)
	require.Equal(t, cluster.Config{}, cfg)

	for text, want := range map[string]string{
		"name: a\nname: b": "already defined",
		"- a\n- b":         "neither YAML nor JSON with keys at the top",
	} {
		_, err := config.FromFile(write(t, "shop.yaml", text), cluster.Config{})
		require.ErrorContains(t, err, want)
	}
	_, err = config.FromFile("/nowhere.yaml", cluster.Config{})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestASecretIsReadFromAFileAndNeverShown(t *testing.T) {
	t.Setenv("SHOP_SECRET_FILE", write(t, "secret", "0123456789abcdef\n"))
	cfg, err := config.FromEnv("SHOP_", cluster.Config{})
	require.NoError(t, err)
	require.Equal(t, "0123456789abcdef", string(cfg.Secret))
	t.Setenv("SHOP_SECRET_FILE", write(t, "secret", "password\n"))
	_, err = config.FromEnv("SHOP_", cluster.Config{})
	require.ErrorContains(t, err, "which has 8 bytes; allowed is the path of a file with at least 16 random bytes")
	require.NotContains(t, err.Error(), "password")
}

// issue writes a new certificate that signs itself, and its key.
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

	_, err = config.FromFile(write(t, "shop.yaml", text), cluster.Config{})
	require.ErrorContains(t, err, "tls_key is "+`"`+key+`"`)
	require.ErrorIs(t, err, os.ErrNotExist)
	empty := write(t, "empty.pem", "")
	issue(t, cert, key, 3)
	_, err = config.FromFile(write(t, "shop.yaml", "tls_cert: "+cert+"\ntls_key: "+key+"\ntls_ca: "+empty), cluster.Config{})
	require.ErrorContains(t, err, "which has no certificate")
}
