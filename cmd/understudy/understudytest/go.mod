module github.com/understudy-go/understudy/cmd/understudy/understudytest

go 1.26.0

require (
	github.com/understudy-go/understudy v0.1.0
	github.com/understudy-go/understudy/cmd/understudy v0.1.0
)

replace github.com/understudy-go/understudy => ../../..

replace github.com/understudy-go/understudy/cmd/understudy => ..
