package codec

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"
)

// A Form says how the values of a type are encoded, in such a way that another program can tell
// whether it reads them. The JSON names are those of package rehearsal.
type Form struct {
	Kind   string      `json:"kind"`             // see the constants
	Null   bool        `json:"null,omitempty"`   // a pointer, which may be nil
	Of     string      `json:"of,omitempty"`     // of an actor ref: the registered name of the messages
	Codec  string      `json:"codec,omitempty"`  // the format that encodes it; "" for CBOR
	Elem   *Form       `json:"elem,omitempty"`   // of a list or a map
	Key    *Form       `json:"key,omitempty"`    // of a map
	Fields []FormField `json:"fields,omitempty"` // of a struct, in their order
}

// A FormField is a field of a struct.
type FormField struct {
	Name string `json:"name"`
	Form *Form  `json:"form"`
}

// The kinds of forms; numbers have the names of their types in Go.
const (
	FormOwn    = "own" // methods of the type encode it
	FormTime   = "time"
	FormText   = "text"
	FormBytes  = "bytes"
	FormList   = "list"
	FormMap    = "map"
	FormStruct = "struct"
	FormArray  = "array" // a struct whose fields have no names
	FormAny    = "any"
	FormAgain  = "again" // the type is one of those that it is in
)

// Forms returns the forms of all registered types, by their names.
func Forms() map[string]*Form {
	all := map[string]*Form{}
	for name, t := range Types() {
		if t.Kind() != reflect.Interface {
			all[name] = formOf(t, nil)
		}
	}
	return all
}

// FormatNames returns the names of the formats that this program reads.
func FormatNames() []string { return slices.Sorted(maps.Keys(registered().formats)) }

func formOf(t reflect.Type, within []reflect.Type) *Form {
	if of := formatsOf(t); of != nil && of.writes != nil {
		return &Form{Kind: FormOwn, Codec: of.name}
	}
	if t.Kind() == reflect.Pointer {
		f := *formOf(t.Elem(), within)
		f.Null = true
		return &f
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		return &Form{Kind: FormTime}
	case texts.is(t):
		return &Form{Kind: FormText, Of: toldName(t)}
	case codesItself(t):
		return &Form{Kind: FormOwn}
	case slices.Contains(within, t):
		return &Form{Kind: FormAgain}
	}
	within = append(slices.Clone(within), t)
	switch t.Kind() {
	case reflect.Int:
		return &Form{Kind: "int64"}
	case reflect.Uint, reflect.Uintptr:
		return &Form{Kind: "uint64"}
	case reflect.String:
		return &Form{Kind: FormText}
	case reflect.Interface:
		return &Form{Kind: FormAny}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return &Form{Kind: FormBytes}
		}
		return &Form{Kind: FormList, Elem: formOf(t.Elem(), within)}
	case reflect.Map:
		return &Form{Kind: FormMap, Key: formOf(t.Key(), within), Elem: formOf(t.Elem(), within)}
	case reflect.Struct:
		return structForm(t, within)
	}
	return &Form{Kind: t.Kind().String()}
}

// toldName returns the registered name of what the method Tell takes, or "".
func toldName(t reflect.Type) string {
	tell, ok := t.MethodByName("Tell")
	if !ok || tell.Type.NumIn() < 2 {
		return ""
	}
	name, _ := NameOf(tell.Type.In(1)) // "" without one
	return name
}

func structForm(t reflect.Type, within []reflect.Type) *Form {
	l := layoutOf(t)
	f := &Form{Kind: FormStruct, Fields: make([]FormField, 0, len(l.fields))}
	if l.array {
		f.Kind = FormArray
	}
	for _, field := range l.fields {
		f.Fields = append(f.Fields, FormField{field.shownKey(), formOf(field.typ, within)})
	}
	return f
}

// key is the name of the field in the data. A number is not a text of digits.
func (f *namedField) shownKey() string {
	if f.numeric {
		return fmt.Sprint("#", f.number)
	}
	return f.name
}

// A Field is a field of a struct as it is encoded.
type Field struct {
	Name  string
	Index []int // for reflect.Value.FieldByIndexErr
}

// FieldsOf returns the encoded fields of a struct type, with those of embedded structs.
func FieldsOf(t reflect.Type) []Field {
	var all []Field
	for _, f := range layoutOf(t).fields {
		all = append(all, Field{f.shownKey(), f.index})
	}
	return all
}

// IsEncoded reports whether a field of a struct, or what is embedded in it, is encoded.
func IsEncoded(f reflect.StructField) bool { return isEncoded(f) }
