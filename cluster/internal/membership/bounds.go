package membership

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/understudy-go/understudy/internal/naming"
)

// Bounds on what a node says about itself and others. They are far above what users need. They
// keep invented values from using memory and from overflowing.
const (
	maxAddress = 255     // bytes, as in remote
	maxListed  = 100     // roles of a member, and entries of its metadata
	maxNumber  = 1 << 62 // limit of every counter
)

// CheckSelf returns an error if the name, roles or metadata of a node are invalid. They become
// part of what all other nodes store and show. An empty name is valid: it stands for the
// address.
func CheckSelf(name string, roles []string, meta map[string]string) error {
	if err := checkMember(name, roles, meta); err != nil {
		return err
	}
	if name != "" {
		if err := naming.Check(name); err != nil {
			return fmt.Errorf("the node ID %q %w", name, err)
		}
	}
	for _, role := range roles {
		if err := naming.Check(role); err != nil {
			return fmt.Errorf("the role %q %w", role, err)
		}
	}
	for key, value := range meta {
		if err := naming.Check(key); err != nil {
			return fmt.Errorf("the key %q of the metadata %w", key, err)
		}
		if err := naming.CheckText(value, maxText-len(key)); err != nil {
			return fmt.Errorf("the value of %q in the metadata %w", key, err)
		}
	}
	return nil
}

// CheckAppVersion returns an error if the version of an application is too long, or has characters
// that cannot be shown.
func CheckAppVersion(version string) error {
	if version == "" {
		return nil
	}
	if err := naming.Check(version); err != nil {
		return fmt.Errorf("the version %q of the application %w", version, err)
	}
	return nil
}

func checkMember(name string, roles []string, meta map[string]string) error {
	switch {
	case len(name) > maxText:
		return fmt.Errorf("name of %d bytes, the limit is %d", len(name), maxText)
	case len(roles) > maxListed:
		return fmt.Errorf("%d roles, the limit is %d", len(roles), maxListed)
	case len(meta) > maxListed:
		return fmt.Errorf("%d entries of metadata, the limit is %d", len(meta), maxListed)
	}
	for key, value := range meta {
		if len(key)+len(value) > maxText {
			return fmt.Errorf("metadata of %d bytes, the limit is %d", len(key)+len(value), maxText)
		}
	}
	return checkTexts(roles, maxText)
}

func checkTexts(all []string, limit int) error {
	for _, text := range all {
		if len(text) > limit {
			return fmt.Errorf("text of %d bytes, the limit is %d", len(text), limit)
		}
	}
	return nil
}

func checkAddress(address string) error {
	if address == "" || len(address) > maxAddress {
		return fmt.Errorf("address of %d bytes", len(address))
	}
	return nil
}

// CheckID returns an error if id has no incarnation, or an address that is empty or too long.
func CheckID(id ID) error {
	if id.Incarnation == 0 {
		return errors.New("no incarnation")
	}
	return checkAddress(id.Address)
}

func checkNumber(all ...uint64) error {
	if n := slices.Max(all); n > maxNumber {
		return fmt.Errorf("number %d, the limit is %d", n, uint64(maxNumber))
	}
	return nil
}

func (r joinRequest) check() error {
	if len(r.Replaces) > MaxMembers {
		return errors.New("too many incarnations")
	}
	if len(r.Gone) > MaxMembers {
		return errors.New("too many nodes that are gone")
	}
	return cmp.Or(checkTexts([]string{r.To, r.AppVersion}, maxText), checkTexts(r.Gone, maxText), r.Agreement.check(), checkMember(r.Name, r.Roles, r.Meta))
}

func (a joinAnswer) check() error {
	if len(a.Replaces) > MaxMembers {
		return errors.New("too many incarnations")
	}
	if len(a.Names) > maxGroup {
		return errors.New("too many seeds")
	}
	for _, name := range a.Names {
		if err := naming.CheckAddress(name); err != nil {
			return fmt.Errorf("seed %q %w", name, err)
		}
	}
	return cmp.Or(checkTexts([]string{a.To, a.Reason}, maxText), a.Table.check())
}

// checkEntries returns an error if an entry of a table is invalid. Entries must be sorted, so
// none occurs twice.
func (p packed) checkEntries() error {
	return cmp.Or(
		checkAll(p.Members, Member.ID, ID.Compare, func(m Member) error {
			return cmp.Or(CheckID(m.ID()), checkNumber(m.UpNumber), checkMember(m.Name, m.Roles, m.Meta), checkTexts(append([]string{m.AppVersion}, m.Downing...), maxText))
		}),
		checkAll(p.Tombstones, func(d packedTombstone) ID { return d.ID }, ID.Compare, packedTombstone.check),
		checkAll(p.Rows, func(r packedRow) ID { return r.ID }, ID.Compare, packedRow.check),
	)
}

func checkAll[E, K any](all []E, key func(E) K, compare func(a, b K) int, check func(E) error) error {
	for i, each := range all {
		if i > 0 && compare(key(all[i-1]), key(each)) >= 0 {
			return fmt.Errorf("%v after %v", key(each), key(all[i-1]))
		}
		if err := check(each); err != nil {
			return fmt.Errorf("%v: %w", key(each), err)
		}
	}
	return nil
}

func (d packedTombstone) check() error {
	if len(d.Roles) > MaxMembers {
		return errors.New("too many roles")
	}
	return cmp.Or(
		CheckID(d.ID),
		checkNumber(d.UpNumber),
		checkTexts([]string{d.Name}, maxText),
		checkTexts(d.Roles, maxText),
	)
}

func (r packedRow) check() error {
	if len(r.Unreachable) > MaxMembers {
		return errors.New("too many members")
	}
	if err := cmp.Or(CheckID(r.ID), checkNumber(r.Version)); err != nil {
		return err
	}
	for _, id := range r.Unreachable {
		if err := CheckID(id); err != nil {
			return err
		}
	}
	return nil
}
