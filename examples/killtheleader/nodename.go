package main

import "fmt"

// nodeName names a node; nodes count from 0.
func nodeName(node int) string { return fmt.Sprintf("n%d", node+1) }
