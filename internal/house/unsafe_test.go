package house

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// unsafePackages are the packages whose code imports unsafe: loops over vectors, memory shared with a device, calls of
// the system.
var unsafePackages = []string{
	"app/cli", "app/farm", "app/i18n", "app/imagefile", "app/view", "cuda", "cuda/driver", "internal/atomicfile",
	"lab/bench", "processing/cpu/kernel", "processing/internal/arena", "processing/internal/differences",
	"processing/internal/kriging", "processing/internal/patch", "processing/internal/relax", "processing/network",
}

// Unsafe pointers stay in the packages that are named, and a package without them leaves the list.
func TestUnsafe(t *testing.T) {
	t.Parallel()
	unused := slices.Clone(unsafePackages)
	sources(t, func(file string, tree *ast.File) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		for _, spec := range tree.Imports {
			if spec.Path.Value != `"unsafe"` {
				continue
			}
			dir := path.Dir(file)
			if !slices.Contains(unsafePackages, dir) {
				t.Errorf("%s imports unsafe; its package is not one of those that may", file)
			}
			unused = slices.DeleteFunc(unused, func(name string) bool { return name == dir })
		}
	})
	for _, name := range unused {
		t.Errorf("%s imports no unsafe and needs no place in the list", name)
	}
}
