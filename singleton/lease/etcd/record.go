package etcd

import (
	"context"
	"fmt"
	"strconv"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// A record is the state of a name in etcd at one moment.
type record struct {
	holder   string
	acquired int64 // revision of the acquisition; 0 when nobody holds the lease
	id       clientv3.LeaseID
	token    uint64
	tokenRev int64 // revision of the token; 0 when there has never been one
}

type version struct {
	acquired int64
	id       clientv3.LeaseID
}

func (v version) String() string { return fmt.Sprintf("%d/%x", v.acquired, uint64(v.id)) }

// parseVersion returns false for text that is not from a grant of this package, including "".
func parseVersion(text string) (version, bool) {
	var v version
	var id uint64
	n, err := fmt.Sscanf(text, "%d/%x", &v.acquired, &id)
	v.id = clientv3.LeaseID(id)
	return v, n == 2 && err == nil
}

// reads returns the requests whose answers parse understands.
func (s *Store) reads(name string) []clientv3.Op {
	return []clientv3.Op{clientv3.OpGet(s.holderKey(name)), clientv3.OpGet(s.tokenKey(name))}
}

// read reads the state of a name from a quorum.
func (s *Store) read(ctx context.Context, name string) (record, error) {
	answer, err := s.client.Txn(ctx).Then(s.reads(name)...).Commit()
	if err != nil {
		return record{}, err
	}
	return s.parse(name, answer.Responses)
}

func (s *Store) parse(name string, answers []*pb.ResponseOp) (record, error) {
	var r record
	if kvs := answers[0].GetResponseRange().Kvs; len(kvs) > 0 {
		r.holder, r.acquired, r.id = string(kvs[0].Value), kvs[0].ModRevision, clientv3.LeaseID(kvs[0].Lease)
	}
	if kvs := answers[1].GetResponseRange().Kvs; len(kvs) > 0 {
		token, err := strconv.ParseUint(string(kvs[0].Value), 10, 64)
		if err != nil {
			return r, fmt.Errorf("the key %q does not have a token, give New another Prefix: %w", s.tokenKey(name), err)
		}
		r.token, r.tokenRev = token, kvs[0].ModRevision
	}
	return r, nil
}
