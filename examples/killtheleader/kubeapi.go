package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/understudy-go/understudy/internal/lab/cutproxy"
	"github.com/understudy-go/understudy/internal/process"
)

// An apiServer is a Kubernetes API server with its etcd, made by internal/lab/kubeapi.
type apiServer struct {
	dir     string
	process *process.Process
	proxy   *cutproxy.Proxy
	access  kubeAccess
}

// kubeAccess says how to reach an API server. The fields are as internal/lab/kubeapi prints them.
type kubeAccess struct {
	Server string `json:"server"`
	CA     string `json:"ca"`    // file
	Token  string `json:"admin"` // file
}

// defaultKubeAPI is where make test-kubernetes puts the program.
func defaultKubeAPI() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "understudy", "kubeapi")
}

// startKubeAPI starts the server. Clients reach it at a host, through a proxy: it listens at
// 127.0.0.1 only.
func startKubeAPI(path, host string) (*apiServer, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("no API server at %q; build one with make test-kubernetes, which takes minutes, or pass -kubeapi", path)
	}
	s := &apiServer{}
	if err := s.start(path, host); err != nil {
		s.close()
		return nil, fmt.Errorf("start an API server: %w", err)
	}
	return s, nil
}

func (s *apiServer) start(path, host string) (err error) {
	if s.dir, err = os.MkdirTemp("", "killtheleader-kubeapi-"); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(path, "-dir", s.dir)
	cmd.Stderr = log
	if s.process, err = process.Start(cmd); err != nil {
		return err
	}
	line, ok := s.process.Line()
	if !ok {
		said, _ := os.ReadFile(log.Name())
		return errors.New("it has ended: " + string(said))
	}
	go s.process.Rest()
	if err := json.Unmarshal([]byte(line), &s.access); err != nil {
		return err
	}
	return s.publish(host)
}

// publish makes the server reachable at a host.
func (s *apiServer) publish(host string) error {
	server, err := url.Parse(s.access.Server)
	if err != nil {
		return err
	}
	if s.proxy, err = cutproxy.StartAt(net.JoinHostPort(host, "0"), server.Host); err != nil {
		return err
	}
	s.access.Server = "https://" + s.proxy.Addr()
	return nil
}

func (s *apiServer) close() {
	if s.proxy != nil {
		_ = s.proxy.Close()
	}
	if s.process != nil {
		s.process.Kill()
	}
	_ = os.RemoveAll(s.dir)
}
