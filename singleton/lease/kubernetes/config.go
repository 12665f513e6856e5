package kubernetes

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	typedv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
)

// Where Kubernetes puts the credentials of a pod.
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

// Config says how to reach an API server. All fields are required: with one of them taken
// from somewhere else, a token of one cluster would be sent to the server of another.
type Config struct {
	Server    string // https://host:port
	CAFile    string // the certificates that the server's must lead to, in PEM
	TokenFile string // the bearer token; read for every request, so it may be rotated
	Namespace string // where the objects are; it must exist
}

// InCluster returns a store for the service account of the pod that it is called in, with
// its objects in the pod's namespace. Outside of a cluster it returns an error.
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

// Connect returns a store for the server of c. It checks c and reads the files; it does
// not ask the server.
func Connect(c Config) (*Store, error) {
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("kubernetes.Config: %w", err)
	}
	client, err := typedv1.NewForConfig(&rest.Config{
		Host:          c.Server,
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}, // what people can read on the wire
		WrapTransport: withToken(c.TokenFile),
		TLSClientConfig: rest.TLSClientConfig{
			CAFile: c.CAFile,
			// A request of HTTP/1.1 that is given up takes its connection along. With
			// HTTP/2 the next one would wait for the same dead connection.
			NextProtos: []string{"http/1.1"},
		},
		QPS: -1, // leases are renewed in time or not at all
	})
	if err != nil {
		return nil, fmt.Errorf("kubernetes.Config: %w", err)
	}
	return New(client, c.Namespace), nil
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
