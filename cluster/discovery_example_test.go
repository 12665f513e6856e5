package cluster_test

import (
	"context"
	"fmt"
	"os"

	"github.com/understudy-go/understudy/cluster"
)

func ExampleDNS() {
	nodes := cluster.DNS{Host: "localhost", Port: 7355, Family: "ip4"}
	fmt.Println(nodes.Find(context.Background()))
	// Output: [127.0.0.1:7355] <nil>
}

func ExampleDiscoveryFunc() {
	dir, err := os.MkdirTemp("", "nodes")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()

	// Each node creates a file, named after its address, in a directory that all of them share.
	register := func(address string) error { return os.WriteFile(dir+"/"+address, nil, 0o600) }
	nodes := cluster.DiscoveryFunc(func(context.Context) ([]string, error) {
		files, err := os.ReadDir(dir)
		var addresses []string
		for _, file := range files {
			addresses = append(addresses, file.Name())
		}
		return addresses, err
	})

	fmt.Println(register("10.0.0.2:7355"), register("10.0.0.1:7355"))
	fmt.Println(nodes.Find(context.Background()))
	// Output:
	// <nil> <nil>
	// [10.0.0.1:7355 10.0.0.2:7355] <nil>
}
