package main

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// startEtcd returns an etcd that listens on the loopback interface and is ready. It does not sync
// its writes to disk, because its data need not outlive the machine.
func startEtcd(dir string) (*embed.Etcd, error) {
	config := embed.NewConfig()
	config.Dir = dir
	config.LogLevel = "error"
	config.UnsafeNoFsync = true
	clients, err := freeURL()
	if err != nil {
		return nil, err
	}
	peers, err := freeURL()
	if err != nil {
		return nil, err
	}
	config.ListenClientUrls, config.AdvertiseClientUrls = clients, clients
	config.ListenPeerUrls, config.AdvertisePeerUrls = peers, peers
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("start etcd: %w", err)
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err = <-etcd.Err():
	case <-time.After(time.Minute):
		err = errors.New("not ready within a minute")
	}
	etcd.Close()
	return nil, fmt.Errorf("start etcd: %w", err)
}

func freeURL() ([]url.URL, error) {
	port, err := freePort()
	return []url.URL{{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port)}}, err
}

func arguments(dir string, port int, etcd string) []string {
	return []string{
		"--etcd-servers=http://" + etcd,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--cert-dir=" + dir,
		"--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-issuer=https://kubeapi.invalid",
		"--service-account-key-file=" + filepath.Join(dir, "sa.pub"),
		"--service-account-signing-key-file=" + filepath.Join(dir, "sa.key"),
		"--token-auth-file=" + filepath.Join(dir, "tokens.csv"),
		"--authorization-mode=RBAC",
		"--disable-admission-plugins=ServiceAccount",
		"--profiling=false",
	}
}
