package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/understudy-go/understudy/singleton/lease"
)

// attempts is the maximum number of writes for one request when other writers are faster.
const attempts = 3

// Store is a [lease.Store] whose leases are Lease objects in one namespace. All leases of a process
// should share one Store, because it remembers how long it has seen each record.
type Store struct {
	client       rest.Interface
	namespace    string
	observations observations
}

var _ lease.Store = (*Store)(nil)

// New returns a store that keeps its objects in that namespace, which must exist.
//
// client is clientset.CoordinationV1().RESTClient() of a clientset. Three settings of its
// [rest.Config] matter; the clients of [InCluster] and [Connect] have all three.
//
//   - Rate limit: client-go's default, five requests per second, is enough for fifteen leases of 15
//     s. Set QPS to -1 for more.
//   - Token: client-go reads a BearerTokenFile again after 50 s at the earliest, whatever the
//     server answers. A shorter TTL does not survive a token that is revoked early.
//   - HTTP/2: a dead connection serves the next requests as well, until client-go notices after 45
//     s. Set NextProtos to http/1.1.
func New(client rest.Interface, namespace string) *Store {
	return &Store{client: client, namespace: namespace}
}

// Take implements [lease.Store].
func (s *Store) Take(ctx context.Context, c lease.Claim) (lease.Grant, error) {
	object, err := s.change(ctx, "take", c.Name, nil, func(current *coordinationv1.Lease) (*coordinationv1.Lease, error) {
		if current == nil {
			current = newObject(c.Name)
		}
		if err := s.free(current, c); err != nil {
			return nil, err
		}
		token, err := nextToken(max(c.Floor, transitions(current), s.observations.token(current.Name)))
		if err != nil {
			return nil, err
		}
		return taken(current, c, token), nil
	})
	switch {
	case errors.Is(err, errOvertaken):
		return lease.Grant{}, fmt.Errorf("%w: %w", lease.ErrHeld, err)
	case err != nil:
		return lease.Grant{}, err
	}
	return lease.Grant{Claim: c, Token: transitions(object), Version: object.ResourceVersion}, nil
}

func (s *Store) free(current *coordinationv1.Lease, c lease.Claim) error {
	if err := checkName(current, c.Name); err != nil {
		return err
	}
	who := holder(current)
	if who == "" || who == c.Holder {
		return nil
	}
	unchanged, lasts := s.observations.age(current.Name), duration(current, c.TTL)
	if unchanged < lasts {
		return fmt.Errorf("%w: %q has it, seen unchanged for %v of %v", lease.ErrHeld, who, unchanged, lasts)
	}
	return nil
}

// Renew implements [lease.Store].
func (s *Store) Renew(ctx context.Context, g lease.Grant) (lease.Grant, error) {
	known := s.known(g)
	if s.observations.age(ObjectName(g.Name)) >= g.TTL {
		known = nil // it is read, because the reason names the holder
	}
	object, err := s.change(ctx, "renew", g.Name, known, func(current *coordinationv1.Lease) (*coordinationv1.Lease, error) {
		switch {
		case current == nil:
			return nil, fmt.Errorf("%w: the object is gone", lease.ErrLost)
		case !holds(current, g):
			return nil, fmt.Errorf("%w: it is %q's, with token %d", lease.ErrLost, holder(current), transitions(current))
		case s.observations.age(current.Name) >= g.TTL:
			return nil, fmt.Errorf("%w: it has not been renewed for %v", lease.ErrLost, s.observations.age(current.Name))
		}
		return renewed(current, g.TTL), nil
	})
	if err != nil {
		return g, err
	}
	g.Version = object.ResourceVersion
	return g, nil
}

// Release implements [lease.Store]. The object stays, with its count of transitions.
func (s *Store) Release(ctx context.Context, g lease.Grant) error {
	_, err := s.change(ctx, "release", g.Name, s.known(g), func(current *coordinationv1.Lease) (*coordinationv1.Lease, error) {
		if current == nil || !holds(current, g) {
			return nil, nil
		}
		return released(current), nil
	})
	return err
}

// known returns the object as the request of g has left it, or nil.
func (s *Store) known(g lease.Grant) *coordinationv1.Lease {
	object := s.observations.object(ObjectName(g.Name))
	if object == nil || object.ResourceVersion != g.Version || !holds(object, g) {
		return nil
	}
	return object
}

// change writes the result of edit to the object of a lease, and returns what the server then has.
// It returns nil if edit wants nothing written. edit gets nil if there is no object, and is called
// again if another writer was faster. change begins with known, or with a read if that is nil.
func (s *Store) change(
	ctx context.Context, verb, name string, known *coordinationv1.Lease,
	edit func(current *coordinationv1.Lease) (*coordinationv1.Lease, error),
) (*coordinationv1.Lease, error) {
	object := ObjectName(name)
	failed := func(err error) error {
		return s.explain(verb, object, err)
	}
	current, err := known, error(nil)
	if current == nil {
		if current, err = s.read(ctx, object); err != nil {
			return nil, failed(err)
		}
	}
	for range attempts {
		wanted, err := edit(current)
		if err != nil {
			return nil, failed(err)
		}
		if wanted == nil {
			return nil, nil
		}
		began := time.Now()
		written, err := s.write(ctx, wanted)
		if err == nil {
			s.observations.wrote(written, began)
			return written, nil
		}
		if refused(err, wanted.UID == "") || ctx.Err() != nil {
			return nil, failed(err)
		}
		found, readErr := s.read(ctx, object)
		switch {
		case readErr != nil:
			return nil, failed(err)
		case carriedOut(wanted, found):
			s.observations.wrote(found, began)
			return found, nil
		case !overtaken(err):
			return nil, failed(err) // it may still be on its way
		}
		current = found
	}
	return nil, failed(errOvertaken)
}

func (s *Store) read(ctx context.Context, object string) (*coordinationv1.Lease, error) {
	found, err := s.ask(ctx, s.client.Get().Name(object))
	switch {
	case missing(err):
		s.observations.gone(object)
		return nil, nil
	case err != nil:
		return nil, err
	}
	s.observations.saw(found, time.Now())
	return found, nil
}

func (s *Store) write(ctx context.Context, wanted *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	if wanted.UID == "" {
		return s.ask(ctx, s.client.Post().Body(wanted))
	}
	return s.ask(ctx, s.client.Put().Name(wanted.Name).Body(wanted))
}

func (s *Store) ask(ctx context.Context, r *rest.Request) (*coordinationv1.Lease, error) {
	answer := &coordinationv1.Lease{}
	if err := r.Namespace(s.namespace).Resource("leases").Do(ctx).Into(answer); err != nil {
		return nil, err
	}
	return answer, nil
}

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
