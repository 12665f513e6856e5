package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// access says how to reach the server: the address, and the files that a client needs.
// Admin may do everything; Pod is the service account "actors" of the namespace "demo",
// which may do nothing until somebody binds a role to it.
type access struct {
	Server string `json:"server"`
	CA     string `json:"ca"`
	Admin  string `json:"admin"` // file with the token
	Pod    string `json:"pod"`   // file with the token
}

// prepare writes the tokens and the key of service accounts into dir. It keeps existing files, so
// that a server that is started again in the same dir knows its clients.
func prepare(dir, server string) (access, error) {
	files := access{
		Server: server,
		CA:     filepath.Join(dir, "apiserver.crt"), // the server signs its certificate itself
		Admin:  filepath.Join(dir, "admin.token"),
		Pod:    filepath.Join(dir, "pod.token"),
	}
	if _, err := os.Stat(filepath.Join(dir, "tokens.csv")); err == nil {
		return files, nil
	}
	admin, pod := rand.Text(), rand.Text()
	accounts := admin + `,admin,uid-1,"system:masters"` + "\n" +
		pod + `,system:serviceaccount:demo:actors,uid-2,"system:serviceaccounts,system:authenticated"` + "\n"
	err := errors.Join(
		os.WriteFile(files.Admin, []byte(admin), 0o600),
		os.WriteFile(files.Pod, []byte(pod), 0o600),
		writeKeys(dir),
		os.WriteFile(filepath.Join(dir, "tokens.csv"), []byte(accounts), 0o600),
	)
	return files, err
}

func writeKeys(dir string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return err
	}
	private := x509.MarshalPKCS1PrivateKey(key)
	return errors.Join(
		writePEM(filepath.Join(dir, "sa.key"), "RSA PRIVATE KEY", private),
		writePEM(filepath.Join(dir, "sa.pub"), "PUBLIC KEY", public),
	)
}

func writePEM(name, kind string, der []byte) error {
	return os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

// awaitReady returns when the server says that it is ready.
func awaitReady(ctx context.Context, files access) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		err := ready(ctx, files)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until the server is ready: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func ready(ctx context.Context, files access) error {
	ca, err := os.ReadFile(files.CA)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, files.Server+"/readyz", nil)
	if err != nil {
		return err
	}
	answer, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
