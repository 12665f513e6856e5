package kubernetes

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
)

const (
	namespace = "demo"
	allVerbs  = "get create update delete"
)

// apiServer is a model of the part of a Kubernetes API server that keeps Lease objects,
// as strict as the real one: TestKubernetes puts the same questions to both. It can be
// told to fail.
type apiServer struct {
	mu      sync.Mutex // guards what follows
	objects map[string]*coordinationv1.Lease
	rev     int
	verbs   map[string]string // by token
	fault   func(r *http.Request) fault
	log     []string // METHOD name status
	wire    []string // the bodies of writes
	flying  map[string]int
	most    int // how many writes of one object were under way at once
}

// A fault is what goes wrong with one request.
type fault struct {
	delay  time.Duration // before it is carried out
	status int           // instead of carrying it out
	lost   bool          // carried out, but the answer never comes: the connection breaks
	hang   bool          // not carried out, and nothing comes
	mute   bool          // carried out, and nothing comes
}

func newAPIServer() *apiServer {
	return &apiServer{
		objects: map[string]*coordinationv1.Lease{}, rev: 100, flying: map[string]int{},
		verbs: map[string]string{"secret": allVerbs},
	}
}

// fail makes f decide about each request from now on; nil is no faults.
func (s *apiServer) fail(f func(r *http.Request) fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// always returns a fault for requests of these methods.
func always(f fault, methods ...string) func(*http.Request) fault {
	return func(r *http.Request) fault {
		if slices.Contains(methods, r.Method) {
			return f
		}
		return fault{}
	}
}

// once returns a fault for the first request of that method.
func once(f fault, method string) func(*http.Request) fault {
	var over sync.Once
	return func(r *http.Request) (answer fault) {
		if r.Method == method {
			over.Do(func() { answer = f })
		}
		return answer
	}
}

// put stores a record as it is, as somebody else may have written it.
func (s *apiServer) put(o *coordinationv1.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o = o.DeepCopy()
	o.Namespace = namespace
	if old := s.objects[o.Name]; old != nil {
		o.UID = old.UID
	}
	s.store(o)
}

func (s *apiServer) get(name string) *coordinationv1.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[name].DeepCopy()
}

func (s *apiServer) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, name)
}

func (s *apiServer) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

func (s *apiServer) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = nil
}

func (s *apiServer) bodies() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.wire)
}

func (s *apiServer) allow(accounts map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verbs = maps.Clone(accounts)
}

func (s *apiServer) store(o *coordinationv1.Lease) {
	s.rev++
	if o.UID == "" {
		o.UID = types.UID(fmt.Sprint("uid-", s.rev))
	}
	o.ResourceVersion = strconv.Itoa(s.rev)
	s.objects[o.Name] = o
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	var f fault
	if s.fault != nil {
		f = s.fault(r)
	}
	if r.Method != http.MethodGet {
		s.flying[r.URL.Path]++
		s.most = max(s.most, s.flying[r.URL.Path])
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.Method != http.MethodGet {
			s.flying[r.URL.Path]--
		}
	}()

	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if f.delay > 0 {
		time.Sleep(f.delay)
	}
	if f.hang {
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
	code, answer := f.status, any(nil)
	if code == 0 {
		code, answer = s.answer(r, body)
	}
	s.mu.Lock()
	s.log = append(s.log, fmt.Sprint(r.Method, " ", r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:], " ", code))
	s.mu.Unlock()
	switch {
	case f.mute:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case f.lost:
		panic(http.ErrAbortHandler)
	}
	if message, ok := answer.(string); ok || answer == nil {
		answer = metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status:   metav1.StatusFailure, Code: int32(code), Message: message, Reason: reasons[code],
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer)
}

var reasons = map[int]metav1.StatusReason{
	400: metav1.StatusReasonBadRequest, 401: metav1.StatusReasonUnauthorized, 403: metav1.StatusReasonForbidden,
	404: metav1.StatusReasonNotFound, 405: metav1.StatusReasonMethodNotAllowed, 409: metav1.StatusReasonConflict,
	422: metav1.StatusReasonInvalid, 500: metav1.StatusReasonInternalError,
}

// answer returns the status and an object, or a message of failure.
func (s *apiServer) answer(r *http.Request, body []byte) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	verb := map[string]string{"GET": "get", "POST": "create", "PUT": "update", "DELETE": "delete", "PATCH": "patch"}[r.Method]
	granted, known := s.verbs[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	switch {
	case !known:
		return 401, "Unauthorized"
	case !slices.Contains(strings.Fields(granted), verb):
		return 403, fmt.Sprintf(`leases.coordination.k8s.io is forbidden: User "x" cannot %s resource "leases"`, verb)
	}
	place, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/apis/coordination.k8s.io/v1/namespaces/"), "/leases")
	name = strings.TrimPrefix(name, "/")
	existing := s.objects[name]
	switch {
	case place != namespace && r.Method == http.MethodPost:
		return 404, fmt.Sprintf("namespaces %q not found", place)
	case place != namespace || existing == nil && (verb == "get" || verb == "delete"):
		return 404, fmt.Sprintf("leases.coordination.k8s.io %q not found", name)
	case verb == "get":
		return 200, existing
	case verb == "delete":
		return s.erase(existing, body)
	case verb != "create" && verb != "update":
		return 405, "a lease is never patched"
	}
	s.wire = append(s.wire, string(body))
	if err := checkTimes(body); err != nil {
		return 400, err.Error()
	}
	wanted := &coordinationv1.Lease{}
	if err := json.Unmarshal(body, wanted); err != nil {
		return 400, err.Error()
	}
	wanted.Namespace = place
	if verb == "create" {
		return s.create(wanted)
	}
	return s.update(name, existing, wanted)
}

func (s *apiServer) create(wanted *coordinationv1.Lease) (int, any) {
	if wanted.ResourceVersion != "" {
		return 500, "resourceVersion should not be set on objects to be created"
	}
	if s.objects[wanted.Name] != nil {
		return 409, fmt.Sprintf("leases.coordination.k8s.io %q already exists", wanted.Name)
	}
	if err := valid(wanted); err != nil {
		return 422, err.Error()
	}
	wanted.UID = ""
	s.store(wanted)
	return 201, wanted
}

func (s *apiServer) update(name string, existing, wanted *coordinationv1.Lease) (int, any) {
	switch {
	case wanted.Name != name:
		return 400, "the name of the object does not match the name on the URL"
	case existing == nil && wanted.UID != "":
		return 409, "Precondition failed: UID in precondition: " + string(wanted.UID) + ", UID in object meta: "
	case existing == nil:
		return s.create(wanted) // as the API server does with leases: PUT may create
	case wanted.ResourceVersion == "":
		return 422, "metadata.resourceVersion: Invalid value: 0x0: must be specified for an update"
	case wanted.UID != "" && wanted.UID != existing.UID, wanted.ResourceVersion != existing.ResourceVersion:
		return 409, "the object has been modified; please apply your changes to the latest version and try again"
	}
	if err := valid(wanted); err != nil {
		return 422, err.Error()
	}
	wanted.UID = existing.UID
	if equality.Semantic.DeepEqual(existing, wanted) {
		return 200, existing
	}
	s.store(wanted)
	return 200, wanted
}

func (s *apiServer) erase(existing *coordinationv1.Lease, body []byte) (int, any) {
	options := metav1.DeleteOptions{}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &options); err != nil {
			return 400, err.Error()
		}
	}
	if p := options.Preconditions; p != nil {
		if p.UID != nil && *p.UID != existing.UID || p.ResourceVersion != nil && *p.ResourceVersion != existing.ResourceVersion {
			return 409, "Precondition failed"
		}
	}
	delete(s.objects, existing.Name)
	return 200, metav1.Status{Status: metav1.StatusSuccess}
}

var microTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$`)

// checkTimes wants six digits of every time of a record, no more and no less.
func checkTimes(body []byte) error {
	var raw struct {
		Spec struct{ AcquireTime, RenewTime *string }
	}
	if err := json.Unmarshal(body, &raw); err != nil {
		return err
	}
	for _, text := range []*string{raw.Spec.AcquireTime, raw.Spec.RenewTime} {
		if text != nil && !microTime.MatchString(*text) {
			return fmt.Errorf("parsing time %q as \"2006-01-02T15:04:05.000000Z07:00\"", *text)
		}
	}
	return nil
}

func valid(o *coordinationv1.Lease) error {
	switch spec := o.Spec; {
	case len(validation.IsDNS1123Subdomain(o.Name)) > 0:
		return fmt.Errorf("metadata.name: Invalid value: %q", o.Name)
	case spec.LeaseDurationSeconds != nil && *spec.LeaseDurationSeconds <= 0:
		return fmt.Errorf("spec.leaseDurationSeconds: Invalid value: %d: must be greater than 0", *spec.LeaseDurationSeconds)
	case spec.LeaseTransitions != nil && *spec.LeaseTransitions < 0:
		return fmt.Errorf("spec.leaseTransitions: Invalid value: %d: must be greater than or equal to 0", *spec.LeaseTransitions)
	}
	return nil
}
