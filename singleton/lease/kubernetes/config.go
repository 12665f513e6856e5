package kubernetes

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
)

// serviceAccount is where Kubernetes puts the credentials of a pod.
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

// Config describes how to reach an API server. All fields are required: if one came from another
// place, a token of one cluster could be sent to the server of another.
type Config struct {
	// Server is the address of the API server: https://host:port. Required.
	Server string

	// CAFile is the path of a PEM file with the authorities that may have signed the server's
	// certificate. Required.
	CAFile string

	// TokenFile is the path of the file with the bearer token. It is read for every request, so
	// the token may be rotated. Required.
	TokenFile string

	// Namespace is the namespace of the objects, which must exist. Required.
	Namespace string
}

// InCluster returns a store for the service account of the pod that calls it, with objects in the
// pod's namespace. Outside a cluster it returns an error.
func InCluster() (*Store, error) {
	return inCluster(os.Getenv, serviceAccount)
}

func inCluster(getenv func(string) string, dir string) (*Store, error) {
	host, port := getenv("KUBERNETES_SERVICE_HOST"), getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return nil, rest.ErrNotInCluster
	}
	namespace, err := os.ReadFile(filepath.Join(dir, "namespace"))
	if err != nil {
		return nil, fmt.Errorf("the pod has no service account mounted (automountServiceAccountToken): %w", err)
	}
	return Connect(Config{
		Server:    "https://" + net.JoinHostPort(host, port),
		CAFile:    filepath.Join(dir, "ca.crt"),
		TokenFile: filepath.Join(dir, "token"),
		Namespace: strings.TrimSpace(string(namespace)),
	})
}

// Connect returns a store for the server of c. It checks c and reads the files, and sends no
// request.
func Connect(c Config) (*Store, error) {
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("kubernetes.Config: %w", err)
	}
	client, err := newClient(&rest.Config{
		Host:          c.Server,
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}, // readable on the wire
		WrapTransport: withToken(c.TokenFile),
		TLSClientConfig: rest.TLSClientConfig{
			CAFile: c.CAFile,
			// A cancelled HTTP/1.1 request closes its connection. With HTTP/2 the next request
			// would use the same dead connection.
			NextProtos: []string{"http/1.1"},
		},
		QPS: -1, // leases must be renewed in time, so no limit
	})
	if err != nil {
		return nil, fmt.Errorf("kubernetes.Config: %w", err)
	}
	return New(client, c.Namespace), nil
}

// newClient returns what a clientset has for Lease objects. A clientset costs a program 16 MB,
// because it knows the objects of all APIs.
func newClient(c *rest.Config) (*rest.RESTClient, error) {
	scheme := runtime.NewScheme()
	if err := coordinationv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	c.APIPath, c.GroupVersion = "/apis", &coordinationv1.SchemeGroupVersion
	c.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	c.UserAgent = rest.DefaultKubernetesUserAgent()
	return rest.RESTClientFor(c)
}

func (c Config) validate() error {
	for _, field := range []struct{ name, value string }{
		{"Server", c.Server}, {"CAFile", c.CAFile}, {"TokenFile", c.TokenFile}, {"Namespace", c.Namespace},
	} {
		if field.value == "" {
			return fmt.Errorf("%s is missing: Server, CAFile, TokenFile and Namespace go together", field.name)
		}
	}
	server, err := url.Parse(c.Server)
	if err != nil {
		return err
	}
	if server.Scheme != "https" || server.Host == "" || server.User != nil {
		return errors.New("the server must be given as https://host:port: the token is for nobody else's eyes")
	}
	_, err = readToken(c.TokenFile)
	return err
}

// withToken wraps a transport so that it sends the token in that file. It reads the file for each
// request: the kubelet replaces the token long before it expires, but a token that is revoked early
// ends at once.
func withToken(file string) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return &tokenTransport{file: file, next: next}
	}
}

type tokenTransport struct {
	file string
	next http.RoundTripper
}

func (t *tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := readToken(t.file)
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // required of a RoundTripper; its error does not matter
		}
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return t.next.RoundTrip(r)
}

func readToken(file string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(content))
	if token == "" {
		return "", fmt.Errorf("read the token: %s is empty", file)
	}
	return token, nil
}
