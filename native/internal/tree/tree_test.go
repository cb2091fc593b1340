package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func canonical(t *testing.T, text string) string {
	t.Helper()
	parsed, err := Parse(text, 0, 100)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return string(Append(nil, &parsed.Root))
}

func TestCanonicalForm(t *testing.T) {
	for text, want := range map[string]string{
		` { "b" : [1, 2.50, -0, 1e2] , "a" : null } `: `{"a":null,"b":[1,2.5,0,100]}`,
		`"\u00e9\n\u0001\ud83d\ude00\ud800"`:          "\"é\\n\\u0001😀\ufffd\"",
		`"<&>"`:                                       `"<&>"`,
		`{"a":1,"a":2,"a":3}`:                         `{"a":3}`,
		`18446744073709551615`:                        `18446744073709551615`,
		`18446744073709551616`:                        `18446744073709552000`,
		`1e21`:                                        `1e+21`,
		`1e-7`:                                        `1e-7`,
		`[]`:                                          `[]`,
		`{}`:                                          `{}`,
	} {
		if got := canonical(t, text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestDuplicatesAreNoticed(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a":1,"b":2}`:               false,
		`{"b":1,"a":2}`:               false,
		`{"a":1,"a":1}`:               true,
		`[{"x":{"b":1,"a":1,"b":2}}]`: true,
	} {
		parsed, err := Parse(text, 0, 100)
		if err != nil || parsed.Duplicates != want {
			t.Errorf("%s: %v, %v", text, parsed.Duplicates, err)
		}
	}
}

func TestWrongJSON(t *testing.T) {
	for _, text := range []string{
		"", "{", `{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`, `[1 2]`, "01", "1.", "1e", "-", "+1", "tru", `"a`, "\"\n\"", `"\x"`, `"\u12"`, "{a:1}", "NaN",
	} {
		if _, err := Parse(text, 0, 100); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestLimits(t *testing.T) {
	deep := strings.Repeat("[", 101) + strings.Repeat("]", 101)
	if _, err := Parse(deep, 0, 99); !errors.Is(err, ErrDepth) {
		t.Errorf("deep: %v", err)
	}
	if _, err := Parse("1e999", 0, 99); !errors.Is(err, ErrRange) {
		t.Errorf("large: %v", err)
	}
}

func TestSkipFindsTheEnd(t *testing.T) {
	for text, want := range map[string]int{`{"a":"}\"}"}x`: 12, `[[],{}]`: 7, `{"a":"\\"}`: 10} {
		s := Scanner{Text: text}
		if end, ok := s.Skip(); !ok || end != want {
			t.Errorf("%s: %d %v, want %d", text, end, ok, want)
		}
	}
	for _, text := range []string{`{"a"`, `{"a":"`, `[`} {
		s := Scanner{Text: text}
		if _, ok := s.Skip(); ok {
			t.Errorf("%s has no end", text)
		}
	}
}

func TestGetAndSet(t *testing.T) {
	v := Value{Kind: Object}
	for _, key := range strings.Split("m c x a z b y d w e v f", " ") {
		v.Set(key, StringOf(key))
	}
	v.Set("c", StringOf("changed"))
	for _, key := range strings.Split("a b d e f m v w x y z", " ") {
		if v.Get(key).TextOr("") != key {
			t.Errorf("%s is lost", key)
		}
	}
	if v.Get("c").TextOr("") != "changed" || v.Get("q") != nil {
		t.Error("wrong member")
	}
	if string(Append(nil, &v))[:5] != `{"a":` {
		t.Error("not sorted")
	}
}

// FuzzParse holds the parser against the standard library's.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"x",null,true]}`, `"\ud83d\ude00"`, `-0.0e+1`, `{"a":1,"a":2}`, "[[[", `1e400`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := Parse(text, 0, 200)
		if err == nil && strings.Trim(text[parsed.End:], " \t\r\n") != "" {
			err = errors.New("text after the value")
		}
		var want any
		wantErr := json.Unmarshal([]byte(text), &want)
		if errors.Is(err, ErrDepth) || errors.Is(err, ErrRange) {
			return
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: we say %v, the standard library %v", text, err, wantErr)
		}
		if err != nil {
			return
		}
		printed := Append(nil, &parsed.Root)
		var got any
		if err := json.Unmarshal(printed, &got); err != nil {
			t.Fatalf("%q printed as %q: %v", text, printed, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
		again, err := Parse(string(printed), 0, 200)
		if err != nil || !bytes.Equal(Append(nil, &again.Root), printed) {
			t.Fatalf("%q: the canonical form is not stable", text)
		}
	})
}
