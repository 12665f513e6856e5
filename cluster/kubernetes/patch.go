package kubernetes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	requestLimit = 10 * time.Second
	answerLimit  = 4096 // bytes of an answer that are read
)

// A patcher changes the annotation of one pod.
type patcher struct {
	client *http.Client
	url    string // of the pod
	token  string // the path of a file, which Kubernetes replaces
}

func inCluster(getenv func(string) string, dir, pod string) (patcher, error) {
	host, port := getenv("KUBERNETES_SERVICE_HOST"), getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return patcher{}, errors.New("kubernetes: not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set")
	}
	if pod == "" {
		return patcher{}, errors.New("kubernetes: the name of the pod is empty: take it from metadata.name of the downward API")
	}
	namespace, err := os.ReadFile(filepath.Join(dir, "namespace"))
	if err != nil {
		return patcher{}, fmt.Errorf("kubernetes: the pod has no token: set automountServiceAccountToken: true: %w", err)
	}
	authorities, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		return patcher{}, fmt.Errorf("kubernetes: read the authorities of the API server: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authorities) {
		return patcher{}, fmt.Errorf("kubernetes: %s has no certificate", filepath.Join(dir, "ca.crt"))
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}
	return patcher{
		client: &http.Client{Transport: transport},
		url:    "https://" + net.JoinHostPort(host, port) + pathOf(strings.TrimSpace(string(namespace)), pod),
		token:  filepath.Join(dir, "token"),
	}, nil
}

func pathOf(namespace, pod string) string {
	return "/api/v1/namespaces/" + url.PathEscape(namespace) + "/pods/" + url.PathEscape(pod)
}

func (p patcher) patch(ctx context.Context, cost int) error {
	token, err := os.ReadFile(p.token)
	if err != nil {
		return fmt.Errorf("read the token: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	body := fmt.Sprintf(`{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"%d"}}}`, cost)
	r, err := http.NewRequestWithContext(ctx, http.MethodPatch, p.url, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	r.Header.Set("Content-Type", "application/merge-patch+json")
	answer, err := p.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // only its text matters
	text, _ := io.ReadAll(io.LimitReader(answer.Body, answerLimit))
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", answer.Status, text)
	}
	return nil
}
