package kubernetes

import (
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

var errOvertaken = errors.New("others have written first each time")

func status(err error) int {
	var answer apierrors.APIStatus
	if errors.As(err, &answer) {
		return int(answer.Status().Code)
	}
	return 0
}

func missing(err error) bool {
	return status(err) == http.StatusNotFound
}

// overtaken reports whether the object has changed since it was read. The update of a deleted
// object is a 409 if the server checks the uid first, otherwise a 404.
func overtaken(err error) bool {
	code := status(err)
	return code == http.StatusConflict || code == http.StatusNotFound
}

// refused reports whether the write has certainly not been carried out, and would fail again after
// another read. Creating an object in a namespace that does not exist is a 404.
func refused(err error, creating bool) bool {
	switch code := status(err); code {
	case http.StatusConflict, http.StatusRequestTimeout:
		return false
	case http.StatusNotFound:
		return creating
	default:
		return code >= 400 && code < 500
	}
}

func (s *Store) explain(verb, object string, err error) error {
	code, hint := status(err), ""
	switch code {
	case http.StatusForbidden:
		hint = "; the account needs the verbs get, create and update on leases of coordination.k8s.io in this namespace (RBAC)"
	case http.StatusUnauthorized:
		hint = "; the server does not know the token: it has expired, or is of another cluster"
	case http.StatusNotFound:
		hint = "; the namespace must exist"
	}
	if code != 0 {
		hint = fmt.Sprintf(" (%d %s)", code, http.StatusText(code)) + hint
	}
	return fmt.Errorf("%s lease %s/%s: %w%s", verb, s.namespace, object, err, hint)
}
