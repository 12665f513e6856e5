//go:build !linux

// Command nemesis injects faults into real nodes. It needs Linux.
package main

import "fmt"

func main() { fmt.Println("nemesis: skipped: network namespaces need Linux") }
