// The program that tries a release before it is tagged. It is a module of its own, because it
// makes the archives of a module proxy with golang.org/x/mod.
module github.com/understudy-go/understudy/internal/lab/release

go 1.26.0

require (
	github.com/stretchr/testify v1.12.1
	golang.org/x/mod v0.43.0
)

require go.yaml.in/yaml/v3 v3.0.6 // indirect
