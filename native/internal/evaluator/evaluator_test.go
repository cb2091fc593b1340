package evaluator

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"fleetaudit.dev/child/serve"
)

const (
	passing  = "default applies := false\napplies if input.kind\nviolations contains v if { false; v := {} }\n"
	failing  = "applies := true\nviolations contains {\"path\": [\"spec\", 0], \"message\": \"m\"}\n"
	skipping = "default applies := false\nviolations contains {\"path\": [], \"message\": \"m\"}\n"
)

// views for tests see the workers' clock tick as in the child.
func viewOf(t *testing.T, limit time.Duration, bodies map[string]string) *view {
	t.Helper()
	request := LoadRequest{Modules: map[string]string{}, ObjectMS: limit.Milliseconds(), Data: json.RawMessage(`{"parameters":{"x":1}}`)}
	names := sortedKeys(bodies)
	for _, name := range names {
		request.Modules[name+".rego"] = "package r." + name + "\n" + bodies[name]
		request.Rules = append(request.Rules, Rule{ID: "r/" + name, Package: "r." + name})
	}
	loaded, report := load(request, nil)
	if loaded == nil {
		t.Fatal(report.Problems)
	}
	v := &view{program: loaded, store: inmem.NewFromObjectWithOpts(loaded.data, inmem.OptReturnASTValuesOnRead(true))}
	if err := v.open(); err != nil {
		t.Fatal(err)
	}
	return v
}

func letters(answers []answer) string {
	var out []byte
	for _, a := range answers {
		out = append(out, a.outcome)
	}
	return string(out)
}

func TestOutcomes(t *testing.T) {
	v := viewOf(t, time.Minute, map[string]string{
		"a_pass":      passing,
		"b_fail":      failing,
		"c_skip":      skipping,
		"d_undefined": "applies if input.nothing\nviolations contains 1 if false\n",
		"e_shape":     "applies := true\nviolations := {\"a\": 1}\n",
		"f_member":    "applies := true\nviolations contains 1\n",
		"g_text":      "applies := \"yes\"\nviolations contains {}\n",
		"h_key":       "applies := true\nviolations contains {\"path\": [], \"message\": \"m\", \"extra\": 1}\n",
		"i_path":      "applies := true\nviolations contains {\"path\": [true], \"message\": \"m\"}\n",
		"j_conflict":  "applies := true\nviolations contains {\"path\": [], \"message\": f(1)}\nf(x) := \"a\" if x > 0\nf(x) := \"b\" if x > 0\n",
	})
	answers := v.ask(&serve.Slot{}, "Pod", []byte(`{"kind":"Pod"}`))
	if got := letters(answers); got != "pfseeeeeee" {
		t.Fatalf("outcomes %s: %v", got, answers)
	}
	for place, code := range map[int]string{
		3: "undefined", 4: "bad_answer", 5: "bad_answer", 6: "bad_answer", 7: "bad_answer", 8: "bad_answer", 9: "eval_conflict_error",
	} {
		if answers[place].code != code {
			t.Errorf("rule %d: %q, want %q", place, answers[place].code, code)
		}
	}
	if message := answers[9].message; !strings.HasPrefix(message, "j_conflict.rego:") || strings.Contains(message, "\n") {
		t.Errorf("message %q", message)
	}
}

func TestARuleThatFailsOftenIsAskedAlone(t *testing.T) {
	v := viewOf(t, time.Minute, map[string]string{
		"bad":  "applies := f(1)\nviolations contains {}\nf(x) := true if x > 0\nf(x) := false if x > 0\n",
		"good": passing,
	})
	for range aloneAfter + 2 {
		if got := letters(v.ask(&serve.Slot{}, "Pod", []byte(`{"kind":"Pod"}`))); got != "ep" {
			t.Fatalf("outcomes %s", got)
		}
	}
	c, err := v.classOf("Pod")
	if err != nil || !slices.Equal(c.jointly, []int{1}) {
		t.Errorf("asked jointly: %v, %v", c.jointly, err)
	}
}

func TestInputThatIsNoJSON(t *testing.T) {
	v := viewOf(t, time.Minute, map[string]string{"a": passing, "b": passing})
	for _, raw := range []string{"", "{", "{} {}", strings.Repeat("[", 6000)} {
		answers := v.ask(&serve.Slot{}, "Pod", []byte(raw))
		if letters(answers) != "ee" || answers[0].code != "bad_input" {
			t.Errorf("%.20q: %v", raw, answers)
		}
	}
}

func TestKindsChooseRules(t *testing.T) {
	v := viewOf(t, time.Minute, map[string]string{"a": passing, "b": failing})
	v.rules[0].Kinds = []string{"Pod"}
	if got := letters(v.ask(&serve.Slot{}, "Node", []byte(`{"kind":"Node"}`))); got != "f" {
		t.Errorf("Node: %s", got)
	}
	if got := letters(v.ask(&serve.Slot{}, "Pod", []byte(`{"kind":"Pod"}`))); got != "pf" {
		t.Errorf("Pod: %s", got)
	}
}

func TestProblemsHavePlaces(t *testing.T) {
	for name, c := range map[string]struct {
		source, code, message string
		line                  int
	}{
		"syntax":       {"package r.x\n\nallow if {\n", "rego_parse_error", "", 4},
		"type":         {"package r.x\napplies := 1 + \"a\"\n", "rego_type_error", "invalid argument", 2},
		"function":     {"package r.x\napplies := nope(1)\n", "rego_type_error", "undefined function nope", 2},
		"recursion":    {"package r.x\nf(x) := f(x + 1)\n", "rego_recursion_error", "recursive", 2},
		"unsafe":       {"package r.x\napplies if x > 1\n", "rego_unsafe_var_error", "unsafe", 2},
		"http":         {"package r.x\napplies if http.send({})\n", "refused_builtin", "http.send is not allowed", 2},
		"environment":  {"package r.x\napplies if opa.runtime()\n", "refused_builtin", "opa.runtime", 2},
		"lookup":       {"package r.x\napplies if net.lookup_ip_addr(\"x\")\n", "refused_builtin", "network", 2},
		"parser":       {"package r.x\napplies if rego.parse_module(\"x\", \"y\")\n", "refused_builtin", "parse_module", 2},
		"clock":        {"package r.x\napplies if time.now_ns() > 1\n", "refused_builtin", "time.now_ns", 2},
		"with http":    {"package r.x\napplies if 1 == 1 with http.send as 2\n", "rego_type_error", "function", 2},
		"missing rule": {"package r.x\napplies := true\n", "missing_rule", "violations", 0},
		"empty":        {"", "rego_parse_error", "empty", 0},
	} {
		_, report := load(LoadRequest{Modules: map[string]string{"x.rego": c.source}, Rules: []Rule{{ID: "r/x", Package: "r.x"}}}, nil)
		if len(report.Problems) == 0 {
			t.Errorf("%s: loaded", name)
			continue
		}
		p := report.Problems[0]
		if c.code != "" && p.Code != c.code || p.Line != c.line || !strings.Contains(p.Message, c.message) || p.File != "x.rego" {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestAllProblemsAreReported(t *testing.T) {
	source := "package r.x\n" + strings.Repeat("applies if nope(1)\n", 25)
	_, report := load(LoadRequest{Modules: map[string]string{"x.rego": source}}, nil)
	if len(report.Problems) != 25 {
		t.Errorf("%d problems", len(report.Problems))
	}
}

func TestAllowances(t *testing.T) {
	modules := map[string]string{"x.rego": "package r.x\napplies if time.now_ns() > 1\n"}
	if _, report := load(LoadRequest{Modules: modules, AllowBuiltins: []string{"time.now_ns"}}, nil); len(report.Problems) != 0 {
		t.Error(report.Problems)
	}
	if _, report := load(LoadRequest{AllowBuiltins: []string{"time.now"}}, nil); len(report.Problems) != 1 || report.Problems[0].Code != "unknown_allowance" {
		t.Error(report.Problems)
	}
}

func TestDialects(t *testing.T) {
	inspection := inspect(InspectRequest{Modules: map[string]string{
		"new.rego": "# METADATA\n# title: T\n# custom:\n#   severity: high\npackage a.b\nallow if true\n",
		"old.rego": "package c\nallow { true }\n",
		"bad.rego": "package d\nallow { if\n",
	}}, parsedSources{})
	if len(inspection.Problems) != 1 || inspection.Problems[0].File != "bad.rego" || inspection.Problems[0].Line != 2 {
		t.Error(inspection.Problems)
	}
	if len(inspection.Packages) != 2 {
		t.Fatal(inspection.Packages)
	}
	young, old := inspection.Packages[0], inspection.Packages[1]
	if young.Package != "a.b" || young.Dialect != "v1" || young.Line != 5 || young.Annotations.Title != "T" || !slices.Equal(young.Rules, []string{"allow"}) {
		t.Errorf("%+v", young)
	}
	if old.Package != "c" || old.Dialect != "v0" || old.Annotations != nil {
		t.Errorf("%+v", old)
	}
}

// FuzzInput holds the direct way from JSON to OPA's values against the usual one.
func FuzzInput(f *testing.F) {
	for _, seed := range []string{`{"a":[1,1.5,"x",true,null,{}]}`, `{"b":1,"a":{"b":2},"b":3}`, `"\ud800"`, `[[]]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return // the reader refuses it
		}
		got, err := parseInput([]byte(text))
		want, wantErr := usualInput(text)
		if wantErr != nil || err != nil {
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("%q: we say %v, OPA %v", text, err, wantErr)
			}
			return
		}
		if got.Value.Compare(want) != 0 || got.Value.Hash() != want.Hash() {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
	})
}
