//go:build !unix

package storebench

import (
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/needs"
)

func processorTime(b *testing.B) time.Duration {
	needs.Missing(b, "the processor time of a process is measured on Unix systems only; run this benchmark there")
	return 0
}
