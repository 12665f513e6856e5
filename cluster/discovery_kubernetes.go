package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
)

// Kubernetes finds the pods behind a headless service, through the DNS of the Kubernetes cluster.
// It needs no permission and no access to the API.
//
// The service must publish pods that are not ready: a node becomes ready only when it is in a
// cluster, and to form one the nodes must find each other first.
//
//	apiVersion: v1
//	kind: Service
//	metadata: {name: shop-nodes}
//	spec:
//	  clusterIP: None
//	  publishNotReadyAddresses: true
//	  selector: {app: shop}
//	  ports:
//	    - {name: cluster, port: 7355, protocol: TCP}
//	    - {name: cluster-udp, port: 7355, protocol: UDP}
//
// Use it with a Deployment or a StatefulSet whose pods advertise their IP addresses:
//
//	kind: Deployment
//	spec:
//	  template:
//	    metadata: {labels: {app: shop}}
//	    spec:
//	      containers:
//	        - name: shop
//	          env:
//	            - name: POD_IP
//	              valueFrom: {fieldRef: {fieldPath: status.podIP}}
//
//	cluster.Config{
//		Bind:      ":7355",
//		Advertise: net.JoinHostPort(os.Getenv("POD_IP"), "7355"),
//		Discovery: cluster.Kubernetes{Service: "shop-nodes", Namespace: "shop", Port: 7355},
//	}
//
// If serviceName of a StatefulSet is the name of this service, its pods also have names, which stay
// when a pod is replaced; see Names. The repository's docs/guide/kubernetes.md has the complete
// files.
type Kubernetes struct {
	// Service is the name of the headless service. It is required.
	Service string

	// Namespace is the namespace of the service. The default is "default".
	Namespace string

	// Port is the port of every pod, 1 to 65535. With Port, the A and AAAA records of the service
	// are looked up. Set either Port or PortName. By default PortName is used.
	Port int

	// PortName is the name of a port of the service. With PortName, the SRV records of that port
	// are looked up; they contain the number of the port. By default Port is used.
	PortName string

	// Names finds the pods of a StatefulSet by their names, such as
	// shop-0.shop-nodes.shop.svc.cluster.local:7355. The pods must advertise these names. Names
	// needs PortName. By default pods are found by their IP addresses.
	Names bool

	// Proto is the protocol of the port named PortName. The default is "tcp".
	Proto string

	// ClusterDomain is the domain of the Kubernetes cluster. The default is "cluster.local".
	ClusterDomain string

	// Family is the kind of IP addresses, as in [DNS]. Set it if services are dual-stack:
	// status.podIP is of the first family of the Kubernetes cluster only. The default is "ip",
	// both.
	Family string

	// Resolver looks names up. The default, nil, is [net.DefaultResolver].
	Resolver *net.Resolver
}

// Find looks up the records of the service. See [Discovery].
func (k Kubernetes) Find(ctx context.Context) ([]string, error) {
	switch {
	case k.Service == "":
		return nil, errors.New("cluster: Kubernetes.Service is empty; set it to the name of the headless service")
	case k.PortName == "" && k.Names:
		return nil, errors.New("cluster: Kubernetes.Names needs PortName, as only SRV records have the names of pods")
	case (k.PortName == "") == (k.Port == 0):
		return nil, errors.New("cluster: set one of Kubernetes.Port and Kubernetes.PortName")
	case k.PortName == "":
		return DNS{Host: k.domain(), Port: k.Port, Family: k.Family, Resolver: k.Resolver}.Find(ctx)
	}
	return SRV{
		Service:  k.PortName,
		Proto:    k.Proto,
		Name:     k.domain(),
		Resolve:  !k.Names,
		Family:   k.Family,
		Resolver: k.Resolver,
	}.Find(ctx)
}

// domain returns the complete name of the service, with a final dot, so that no search list is
// tried.
func (k Kubernetes) domain() string {
	return fmt.Sprintf("%s.%s.svc.%s.", k.Service, cmp.Or(k.Namespace, "default"), cmp.Or(k.ClusterDomain, "cluster.local"))
}
