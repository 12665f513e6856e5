package config

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/understudy-go/understudy/cluster"
)

// applyTLS sets the field TLS, if one of its keys is set.
func applyTLS(cfg *cluster.Config, found map[string]setting) error {
	var missing, set []string
	file := map[string]string{}
	for _, name := range []string{"tls_cert", "tls_key", "tls_ca"} {
		s, ok := found[name]
		if !ok {
			missing = append(missing, name)
			continue
		}
		set = append(set, s.source)
		file[name] = s.values[0]
	}
	switch {
	case len(set) == 0:
		return nil
	case len(missing) > 0:
		return fmt.Errorf("config: %s is set without %s; set all three of tls_cert, tls_key and tls_ca", strings.Join(set, " and "), strings.Join(missing, " and "))
	}
	pair := &keyPair{cert: file["tls_cert"], key: file["tls_key"]}
	_, err := pair.load()
	if err != nil {
		err = fmt.Errorf("config: %s is %q and %s is %q: %w", found["tls_cert"].source, pair.cert, found["tls_key"].source, pair.key, err)
	}
	authorities, caErr := readAuthorities(file["tls_ca"])
	if caErr != nil {
		caErr = fmt.Errorf("config: %s is %q, %w", found["tls_ca"].source, file["tls_ca"], caErr)
	}
	if err := errors.Join(err, caErr); err != nil {
		return err
	}
	cfg.TLS = &tls.Config{
		GetCertificate:       func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return pair.load() },
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair.load() },
		RootCAs:              authorities,
		ClientCAs:            authorities,
		MinVersion:           tls.VersionTLS13,
	}
	return nil
}

func readAuthorities(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("which cannot be read: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New("which has no certificate; allowed is a PEM file of certificates")
	}
	return pool, nil
}

// A keyPair is a certificate and its private key in two files, which may be replaced.
type keyPair struct {
	cert, key string // paths

	mu   sync.Mutex // guards last
	last *tls.Certificate
}

// load returns the pair in the files, or else the last one that was there.
func (p *keyPair) load() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(p.cert, p.key)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil:
		p.last = &pair
	case p.last == nil:
		return nil, err
	}
	return p.last, nil
}
