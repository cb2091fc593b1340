package reader

import (
	"fmt"
	"testing"

	"fleetaudit.dev/native/internal/tree"
)

func parsed(t *testing.T, text string) *tree.Value {
	t.Helper()
	found, err := tree.Parse(text, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	return &found.Root
}

const pod = `{"containers":[{"name":"c","image":"i"}]}`

func TestContainersInAnyShape(t *testing.T) {
	for object, want := range map[string]string{
		`{"spec":` + pod + `}`:                       "[[]]",
		`{"spec":{"template":{"spec":` + pod + `}}}`: "[[spec template]]",
		`{"spec":{"groups":[{"template":{"spec":` + pod + `}},{"template":{"spec":` + pod + `}}]}}`: "[[spec groups 0 template] [spec groups 1 template]]",
		`{"spec":{"predictor":` + pod + `}}`:                                          "[[spec predictor]]",
		`{"spec":{"initContainers":[{"name":"c","command":["x"]}]}}`:                  "[[]]",
		`{"spec":{"a":{"containers":[null,"x",{"image":"i"}]}}}`:                      "[[spec a]]",
		`{"spec":{"steps":[{"image":"i"},{"image":"j"}]}}`:                            "[[spec steps]]",
		`{"spec":{"sidecars":[{"name":"s","image":"i"}]}}`:                            "[[spec sidecars]]",
		`{"spec":{"containers":{"main":{"image":"i"}}}}`:                              "[[spec containers]]",
		`{"spec":{"container":{"image":"i"}}}`:                                        "[[spec container]]",
		`{"spec":{"driver":{"image":"i","cores":1,"env":[]}}}`:                        "[[spec driver]]",
		`{"spec":{"image":"i","mainClass":"m","driver":{"cores":1}}}`:                 "[[spec]]",
		`{"spec":{"agents":[{"image":"i","args":["x"]}]}}`:                            "[[spec agents 0]]",
		`{"spec":{"image":{"repository":"r","tag":"t"},"resources":{}}}`:              "[[spec]]",
		`{"image":"i","command":["x"]}`:                                               "[[]]",
		`{"spec":{"a":{"image":"i","resources":{}},"template":{"spec":` + pod + `}}}`: "[[spec a] [spec template]]",

		`{"spec":{"containers":"none"}}`:                                    "[]",
		`{"spec":{"containers":[1]}}`:                                       "[]",
		`{"spec":{"properties":{"containers":{"items":{}}}}}`:               "[]",
		`{"spec":{"image":"i","interval":"1m"}}`:                            "[]",
		`{"spec":{"images":[{"name":"n","newName":"m","newTag":"t"}]}}`:     "[]",
		`{"spec":{"relatedImages":[{"name":"n","image":"i"}]}}`:             "[]",
		`{"spec":{"steps":[[{"name":"a","template":"b"}],{"run":"make"}]}}`: "[]",
		`{"spec":{"volumes":[{"name":"m","image":{"reference":"r"}}]}}`:     "[]",
		`{"spec":{"image":{"type":"string"},"resources":{"type":"x"}}}`:     "[]",
		`{"status":{"steps":[{"name":"s","image":"i"}]}}`:                   "[]",
	} {
		got := unknownTemplates(parsed(t, object), "example.com", nil)
		if text := fmt.Sprint(got); text != want {
			t.Errorf("%s:\n got %s\nwant %s", object, text, want)
		}
	}
}

func TestShapesThatMeanNothingInBuiltinAndPatternGroups(t *testing.T) {
	for group, want := range map[string]int{"": 1, "apps": 1, "kyverno.io": 0, "apiextensions.k8s.io": 0, "example.com": 3} {
		object := `{"spec":{"template":{"spec":` + pod + `},"steps":[{"image":"i"}],"other":{"image":"i","args":[]}}}`
		if got := unknownTemplates(parsed(t, object), group, nil); len(got) != want {
			t.Errorf("%q: %v", group, got)
		}
	}
}

func TestTableNamesContainersAndNothingBeside(t *testing.T) {
	table := judgedContainers(map[string][]Place{"x": {
		{Path: []string{"spec", "groups", "*", "template"}, Holds: "template"},
		{Path: []string{"spec", "predictor"}, Holds: "spec", Merged: []string{"model"}},
		{Path: []string{"spec", "templates", "*"}, Holds: "argo_template"},
		{Path: []string{"spec", "steps", "*"}, Holds: "container"},
	}})["x"]
	for object, want := range map[string]string{
		`{"spec":{"groups":[{"template":{"spec":` + pod + `}}]}}`:                                     "[]",
		`{"spec":{"predictor":` + pod + `}}`:                                                          "[]",
		`{"spec":{"predictor":{"model":{"image":"i","name":"n"}}}}`:                                   "[]",
		`{"spec":{"templates":[{"containerSet":` + pod + `,"sidecars":[{"image":"i","name":"s"}]}]}}`: "[]",
		`{"spec":{"templates":[{"script":{"image":"i"}},{"container":{"image":"i"}}]}}`:               "[]",
		`{"spec":{"steps":[{"image":"i","script":"s"}]}}`:                                             "[]",
		// Beside what is named, and in fields that rules don't look into.
		`{"spec":{"predictor":{"containers":[{"name":"c","image":"i"}],"extra":{"image":"i","args":[]}}}}`: "[[spec predictor extra]]",
		`{"spec":{"predictor":{"containers":[{"name":"c","image":"i"}],"worker":` + pod + `}}}`:            "[[spec predictor worker]]",
		`{"spec":{"groups":[{"template":{"spec":{"sidecars":[{"image":"i"}]}}}]}}`:                         "[[spec groups 0 template spec sidecars]]",
		`{"spec":{"steps":[{"image":"i","template":{"spec":` + pod + `}}]}}`:                               "[[spec steps 0 template]]",
		`{"spec":{"templateDefaults":{"container":{"image":"i"}}}}`:                                        "[[spec templateDefaults container]]",
	} {
		if text := fmt.Sprint(unknownTemplates(parsed(t, object), "example.com", table)); text != want {
			t.Errorf("%s:\n got %s\nwant %s", object, text, want)
		}
	}
}
