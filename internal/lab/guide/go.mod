module github.com/understudy-go/understudy/internal/lab/guide

go 1.26.0

replace github.com/understudy-go/understudy => ../../..

require (
	github.com/stretchr/testify v1.12.1
	github.com/understudy-go/understudy v0.1.0
)

require go.yaml.in/yaml/v3 v3.0.6 // indirect
