package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
)

// An identity is the certificate and key of a node, and the authority that it trusts, all as PEM.
type identity struct {
	Certificate, Key []byte
	Authority        []byte
}

// config returns nil for none.
func (id *identity) config() (*tls.Config, error) {
	if id == nil {
		return nil, nil
	}
	own, err := tls.X509KeyPair(id.Certificate, id.Key)
	if err != nil {
		return nil, err
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(id.Authority) {
		return nil, errors.New("the authority is no certificate")
	}
	return &tls.Config{Certificates: []tls.Certificate{own}, RootCAs: authorities, ClientCAs: authorities}, nil
}
