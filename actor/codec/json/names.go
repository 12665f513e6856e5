package json

import (
	"fmt"
	"reflect"
	"strings"
)

// sameNames returns an error if two fields of a struct have the same name in JSON, which then has
// one of them or none. Fields of an embedded struct count as fields of the outer one.
func sameNames(t reflect.Type) error {
	_, err := namesOf(t, map[reflect.Type]bool{})
	return err
}

func namesOf(t reflect.Type, within map[reflect.Type]bool) (map[string]string, error) {
	names := map[string]string{} // the path of the field
	if within[t] {
		return names, nil // it embeds itself, by a pointer
	}
	within[t] = true
	defer delete(within, t)
	add := func(name, path string) error {
		if other := names[name]; other != "" {
			return fmt.Errorf("the fields %s and %s of %v have the same name in JSON, %s, so it would lose one or both; give one a tag: `json:\"another\"`", other, path, t, name)
		}
		names[name] = path
		return nil
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" && f.Tag.Get("json") == "-" {
			continue
		}
		if f.Anonymous && name == "" && indirect(f.Type).Kind() == reflect.Struct {
			inner, err := namesOf(indirect(f.Type), within)
			if err != nil {
				return nil, err
			}
			for name, path := range inner {
				if err := add(name, f.Name+"."+path); err != nil {
					return nil, err
				}
			}
			continue
		}
		if !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		if err := add(name, f.Name); err != nil {
			return nil, err
		}
	}
	return names, nil
}
