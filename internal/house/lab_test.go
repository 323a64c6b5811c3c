package house

import (
	"go/ast"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// door lists the files outside the laboratory that may import it: the door of the program, which the build tag nolab
// leaves out, the manual pages, and tests of the whole program.
var door = map[string]bool{
	"main_lab.go": true, "window_lab.go": true, "packaging/manual.go": true,
	"app/cli/examples_test.go": true, "ui/e2e/main_test.go": true,
}

// Tests may paint pictures and compare masks.
func inTests(imported string) bool {
	return imported == module+"/lab/synth" || imported == module+"/lab/score"
}

// Nothing of the product imports the laboratory but its door.
func TestLaboratoryHasOneDoor(t *testing.T) {
	t.Parallel()
	sources(t, func(path string, file *ast.File) {
		if strings.HasPrefix(path, "lab/") || door[path] {
			return
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(imported, module+"/lab/") &&
				!(strings.HasSuffix(path, "_test.go") && inTests(imported)) {
				t.Errorf("%s imports %s", path, imported)
			}
		}
	})
}

// With the build tag nolab the program contains nothing of the laboratory.
func TestProductStandsAlone(t *testing.T) {
	t.Parallel()
	for _, tags := range []string{"nolab", "nolab,headless", "nolab,cuda"} {
		list := exec.Command("go", "list", "-deps", "-tags", tags, ".")
		list.Dir = root
		out, err := list.Output()
		if err != nil {
			t.Fatalf("%s: %v", tags, err)
		}
		for name := range strings.Lines(string(out)) {
			if strings.HasPrefix(name, module+"/lab/") {
				t.Errorf("with the tags %s the program contains %s", tags, name)
			}
		}
	}
}
