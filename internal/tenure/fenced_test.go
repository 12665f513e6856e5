//go:build !race

package tenure_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton"
)

// A fenced service that has seen {2,0} refuses {1,9}, and takes {2,0} and {2,1}.
func TestAFencedServiceTakesWhatIsNotOlderThanTheLast(t *testing.T) {
	service := &fencedService{}
	for _, write := range []struct {
		gen  singleton.Generation
		want int
	}{
		{singleton.Generation{Term: 2}, http.StatusOK},
		{singleton.Generation{Term: 1, Seq: 9}, http.StatusConflict},
		{singleton.Generation{Term: 2}, http.StatusOK},
		{singleton.Generation{Term: 2, Seq: 1}, http.StatusOK},
		{singleton.Generation{Term: 2}, http.StatusConflict},
	} {
		packed, err := write.gen.Packed()
		require.NoError(t, err)
		r := httptest.NewRequest(http.MethodPut, "/", strings.NewReader(write.gen.String()))
		r.Header.Set("Generation", fmt.Sprint(packed))
		w := httptest.NewRecorder()
		service.ServeHTTP(w, r)
		require.Equal(t, write.want, w.Code, "%v", write.gen)
	}
	require.Equal(t, "2.1", service.text)
}
