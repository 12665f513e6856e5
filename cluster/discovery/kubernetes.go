package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
)

// Kubernetes finds the pods behind a headless service, through the DNS of the Kubernetes
// cluster: it needs no permission, and no access to the API.
//
// The service must publish pods that are not ready: a node is not ready before it is in a
// cluster, and could not be found by those that it is to form one with.
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
// With a Deployment, or a StatefulSet, whose pods advertise their numbers:
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
//		Discovery: discovery.Kubernetes{Service: "shop-nodes", Namespace: "shop", Port: 7355},
//	}
//
// The pods of a StatefulSet whose serviceName is that of the service have names as well,
// which stay when a pod is replaced: see Names. The repository's docs/discovery.md has the
// complete files.
type Kubernetes struct {
	// Service is the name of the headless service. It is required.
	Service string

	// Namespace is that of the service. The default is "default".
	Namespace string

	// Port is that of every pod. Then the A and AAAA records of the service are looked up.
	Port int

	// PortName is the name of a port of the service, instead of Port. Then its SRV records
	// are looked up, which say the number.
	PortName string

	// Names finds the pods of a StatefulSet by their names, such as
	// shop-0.shop-nodes.shop.svc.cluster.local:7355, which they must advertise. It needs
	// PortName. Without Names they are found by their numbers.
	Names bool

	// Proto is that of the named port. The default is "tcp".
	Proto string

	// ClusterDomain is the domain of the Kubernetes cluster. The default is "cluster.local".
	ClusterDomain string

	// Family is which numbers are taken; see [DNS]. Set it where services are dual-stack:
	// status.podIP is of the first family of the Kubernetes cluster.
	Family string

	// Resolver is nil for [net.DefaultResolver].
	Resolver *net.Resolver
}

// Find looks the service up.
func (k Kubernetes) Find(ctx context.Context) ([]string, error) {
	switch {
	case k.Service == "":
		return nil, errors.New("discovery: Kubernetes.Service is empty; set it to the name of the headless service")
	case k.PortName == "" && k.Names:
		return nil, errors.New("discovery: Kubernetes.Names needs PortName, as only SRV records have the names of pods")
	case (k.PortName == "") == (k.Port == 0):
		return nil, errors.New("discovery: set one of Kubernetes.Port and Kubernetes.PortName")
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

// domain is the complete name of the service, so that no search list is tried.
func (k Kubernetes) domain() string {
	return fmt.Sprintf("%s.%s.svc.%s.", k.Service, cmp.Or(k.Namespace, "default"), cmp.Or(k.ClusterDomain, "cluster.local"))
}
