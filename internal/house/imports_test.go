package house

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "blik"
)

// rooms lists which packages of the project a package may import, by the start of its path ("." is main). A package
// belongs to the longest that fits, and may always import others of the same room. docs/architecture.md quotes the table.
var rooms = map[string][]string{
	".":          {"app", "ui", "lab"},
	"app":        {"processing", "cuda", "assets", "docs", "internal"},
	"ui":         {"app", "processing", "assets", "internal"},
	"processing": {"internal"},
	"cuda":       {"processing", "kernels", "internal"},
	"kernels":    {},
	"assets":     {},
	"docs":       {},
	"lab":        {"app", "ui", "processing", "cuda", "internal"},
	"packaging":  {"app", "lab", "internal"},
	"internal":   {},
	// Test support, which only tests import.
	"internal/test": {"app", "processing", "kernels", "assets", "internal"},
}

// roomOf returns the room of a folder of the project, empty if the table lacks it.
func roomOf(folder string) string {
	for at := folder; at != "." || folder == "."; at = path.Dir(at) {
		if _, known := rooms[at]; known {
			return at
		}
	}
	return ""
}

// libraries lists the packages that may import a third-party module, by the start of their paths.
var libraries = map[string][]string{
	"fyne.io/":                          {"ui", "lab/timing", "assets", "internal/test"},
	"github.com/sqweek/dialog":          {"ui"},
	"github.com/spf13/":                 {"app/cli", "lab/cli", "packaging"},
	"github.com/disintegration/imaging": {"app/thumbnail"},
	"github.com/go-gl/":                 {"ui"},
	"gorgonia.org/cu":                   {"cuda"},
	"github.com/nats-io/":               {"app/farm"},
	"github.com/nats-io/nats-server/":   {"app/farm/server"},
}

// apart lists packages that must not import each other: the wings of processing, which share its core only.
var apart = [][]string{{"processing/detect", "processing/correct"}}

// doors lists the packages of the project that only some packages or files may import, and those.
var doors = map[string][]string{
	// Nothing else links a server.
	"app/farm/server": {"app/cli/", "app/farm/server/", "window_gui.go"},
}

// sources calls f for each Go file of the project with its path and its syntax tree.
func sources(t *testing.T, f func(path string, file *ast.File)) {
	t.Helper()
	files := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (name[0] == '.' || name == "build" || name == "testdata"):
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		path, err = filepath.Rel(root, path)
		f(filepath.ToSlash(path), file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Files for all systems and build tags obey the table; only tests may import more.
func TestImports(t *testing.T) {
	t.Parallel()
	count := 0
	sources(t, func(path string, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		room := roomOf(filepath.ToSlash(filepath.Dir(path)))
		may := rooms[room]
		if room == "" {
			t.Errorf("%s: the table of rooms lacks its folder", path)
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if inside, ok := strings.CutPrefix(imported, module+"/"); ok {
				count++
				target := roomOf(inside)
				if users, ok := doors[inside]; ok && !slices.ContainsFunc(users, func(user string) bool {
					return strings.HasPrefix(path, user)
				}) {
					t.Errorf("%s imports %s; only %s may", path, imported, strings.Join(users, ", "))
				}
				for _, wings := range apart {
					if own := path[:max(strings.LastIndex(path, "/"), 0)]; own != inside &&
						slices.Contains(wings, own) && slices.Contains(wings, inside) {
						t.Errorf("%s imports %s, another wing", path, imported)
					}
				}
				if target != room && !slices.Contains(may, target) {
					t.Errorf("%s imports %s; %s may import %s", path, imported, room, strings.Join(may, ", "))
				}
				continue
			}
			for library, users := range libraries {
				if strings.HasPrefix(imported, library) && !slices.ContainsFunc(users, func(user string) bool {
					return strings.HasPrefix(path, user+"/")
				}) {
					t.Errorf("%s imports %s; only %s may", path, imported, strings.Join(users, ", "))
				}
			}
			if first, _, _ := strings.Cut(imported, "/"); room == "processing" && strings.Contains(first, ".") {
				t.Errorf("%s imports %s; processing has no dependency but the standard library", path, imported)
			}
		}
	})
	if count < 100 {
		t.Errorf("only %d imports were seen", count)
	}
}

// The table in the documentation is the same. Its rows start with a directory, `app/`, and end with what it may import.
func TestDocumentedImports(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, name := range []string{"README.md", "docs/architecture.md"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		inside := false
		for line := range bytes.Lines(text) {
			cells := strings.Split(strings.Trim(strings.TrimSpace(string(line)), "|"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			last := cells[len(cells)-1]
			inside = len(cells) > 1 && (inside || last == "may import")
			room := strings.TrimSuffix(strings.Trim(cells[0], "`"), "/")
			if room == "main.go" {
				room = "."
			}
			may, known := rooms[room]
			if !inside || !known {
				continue
			}
			found[room] = true
			if want := strings.Join(may, ", "); last != want && (want != "" || last != "–") {
				t.Errorf("%s: %s may import %s, the table says %s", name, cells[0], want, last)
			}
		}
	}
	for room := range rooms {
		if !found[room] {
			t.Errorf("no table says what %s may import", room)
		}
	}
}

// Tests are skipped only by package testpic, so that skips have one wording and can be turned into failures.
func TestSkips(t *testing.T) {
	t.Parallel()
	sources(t, func(path string, file *ast.File) {
		if strings.HasPrefix(path, "internal/test/testpic/") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			selector, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, selector.Sel.Name) {
				return true
			}
			if name, ok := selector.X.(*ast.Ident); ok && slices.Contains([]string{"t", "b", "f"}, name.Name) {
				t.Errorf("%s calls %s.%s; use blik/internal/test/testpic", path, name.Name, selector.Sel.Name)
			}
			return true
		})
	})
}
