// Package tree holds JSON documents as the reader works on them: ordered, cheap to build, cheap to print canonically.
package tree

import "sort"

// Kind tells the six JSON types apart.
type Kind uint8

// The JSON types.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// Value is one JSON value. Members of objects are sorted by key and unique.
type Value struct {
	Kind    Kind
	Truth   bool
	Text    string // of a string, or the literal of a number
	Items   []Value
	Members []Member
}

// Member is a key and its value.
type Member struct {
	Key   string
	Value Value
}

// StringOf makes a string value.
func StringOf(text string) Value { return Value{Kind: String, Text: text} }

// Get finds a member; nil when it is missing or v is no object.
func (v *Value) Get(key string) *Value {
	if v == nil || v.Kind != Object {
		return nil
	}
	if len(v.Members) <= 8 {
		for i := range v.Members {
			if v.Members[i].Key == key {
				return &v.Members[i].Value
			}
		}
		return nil
	}
	i := sort.Search(len(v.Members), func(i int) bool { return v.Members[i].Key >= key })
	if i < len(v.Members) && v.Members[i].Key == key {
		return &v.Members[i].Value
	}
	return nil
}

// Set adds or replaces a member, keeping the order.
func (v *Value) Set(key string, value Value) {
	i := sort.Search(len(v.Members), func(i int) bool { return v.Members[i].Key >= key })
	if i < len(v.Members) && v.Members[i].Key == key {
		v.Members[i].Value = value
		return
	}
	v.Members = append(v.Members, Member{})
	copy(v.Members[i+1:], v.Members[i:])
	v.Members[i] = Member{Key: key, Value: value}
}

// IsText says whether v is a string; false for nil.
func (v *Value) IsText() bool { return v != nil && v.Kind == String }

// TextOr gives a string's text, or the fallback for anything else.
func (v *Value) TextOr(fallback string) string {
	if v.IsText() {
		return v.Text
	}
	return fallback
}
