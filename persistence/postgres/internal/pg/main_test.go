package pg_test

import (
	"os"
	"testing"

	"github.com/understudy-go/understudy/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
