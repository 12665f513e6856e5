// Package shop has the protobuf messages of the tests. Generate it again with protoc, of Debian's
// packages protobuf-compiler and libprotobuf-dev, and protoc-gen-go of the version in go.mod:
//
//	go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
//	go generate ./internal/shop
package shop

//go:generate protoc --go_out=. --go_opt=paths=source_relative shop.proto
