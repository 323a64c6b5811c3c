package house

import (
	"go/types"
	"path"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"blik/internal/test/testpic"
)

// mostLines is the largest number of lines of a package of the product, without tests and generated files, mostMethods
// that of the methods of a type, including those that it gets from what it embeds. The methods of
// processing.Executor do not count: there is one for each operation.
const mostLines, mostMethods = 6000, 40

// largePackages and wideTypes are the packages and types beyond the limits, with their figures. A figure may only
// shrink, and what has come below a limit leaves the list.
var (
	largePackages = map[string]int{}
	wideTypes     = map[string]int{
		"app/document.Document":   107,
		"app/farm/server.Manager": 87,
		"app/imagefile/png.File":  57,
		"app/imagefile/tiff.File": 47,
		"ui/viewport.Viewport":    77,
	}
)

// product reports whether a package belongs to the product: not to the laboratory, and not to what only tests import.
func product(dir string) bool {
	return !strings.HasPrefix(dir, "lab") && !strings.HasPrefix(dir, "internal/test") && !strings.HasPrefix(dir, "bench")
}

// within fails the test if a figure is beyond the limit without an exception, or beyond its exception, and removes the
// exception from those that are left.
func within(t *testing.T, what, unit string, figure, limit int, left map[string]int) {
	t.Helper()
	allowed, excepted := left[what]
	delete(left, what)
	switch {
	case excepted && figure <= limit:
		t.Errorf("%s has %d %s; it needs no exception any more", what, figure, unit)
	case figure > max(limit, allowed):
		t.Errorf("%s has %d %s, allowed are %d", what, figure, unit, max(limit, allowed))
	}
}

// No package of the product is too large to be known.
func TestSizeOfPackages(t *testing.T) {
	t.Parallel()
	lines := map[string]int{}
	eachSource(t, func(file, text string) {
		if dir := path.Dir(file); product(dir) && !strings.HasPrefix(text, "// Code generated") {
			lines[dir] += strings.Count(text, "\n")
		}
	})
	left := map[string]int{}
	for dir, n := range largePackages {
		left[dir] = n
	}
	for dir, n := range lines {
		within(t, dir, "lines", n, mostLines, left)
	}
	for dir := range left {
		t.Errorf("the exception of %s names no package", dir)
	}
}

// No type of the product has more methods than one can keep in mind.
func TestWidthOfTypes(t *testing.T) {
	testpic.Long(t)
	pkgs, err := checked()
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]int{}
	for name, n := range wideTypes {
		left[name] = n
	}
	operations := map[string]bool{}
	for _, p := range pkgs {
		if p.PkgPath == module+"/processing" {
			executor := p.Types.Scope().Lookup("Executor").Type().Underlying().(*types.Interface)
			for i := range executor.NumMethods() {
				operations[executor.Method(i).Name()] = true
			}
		}
	}
	for _, p := range pkgs {
		dir := strings.TrimPrefix(p.PkgPath, module+"/")
		if !product(dir) {
			continue
		}
		for name, n := range methods(p, operations) {
			within(t, dir+"."+name, "methods", n, mostMethods, left)
		}
	}
	for name := range left {
		t.Errorf("the exception of %s names no type", name)
	}
}

// methods returns the numbers of methods of the project that the types of a package have, without operations.
func methods(p *packages.Package, operations map[string]bool) map[string]int {
	count := map[string]int{}
	for _, name := range p.Types.Scope().Names() {
		defined, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
		if !ok || defined.IsAlias() {
			continue
		}
		of := defined.Type()
		if !types.IsInterface(of) {
			of = types.NewPointer(of)
		}
		set := types.NewMethodSet(of)
		for i := range set.Len() {
			method := set.At(i).Obj()
			if from := method.Pkg(); from != nil && strings.HasPrefix(from.Path(), module+"/") && !operations[method.Name()] {
				count[name]++
			}
		}
	}
	return count
}

// The pipelines of detection and correction are written once: only the choice of a plan asks what a backend is.
func TestOnlyPlansAskForTheBackend(t *testing.T) {
	t.Parallel()
	asks := regexp.MustCompile(`\.\((type|(processing\.|interface\b)\w*)`)
	asked := 0
	eachSource(t, func(file, text string) {
		dir := path.Dir(file)
		if dir != "processing/detect" && dir != "processing/correct" {
			return
		}
		n := len(asks.FindAllString(text, -1))
		asked += n
		if n > 0 && path.Base(file) != "plan.go" {
			t.Errorf("%s asks what a backend is: that belongs to a plan", file)
		}
	})
	if asked != 2 {
		t.Errorf("a backend's kind is asked for %d times, 2 are expected: once for each pipeline", asked)
	}
}
