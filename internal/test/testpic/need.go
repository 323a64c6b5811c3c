// Package testpic provides what tests share: pictures, the data in ../shared, and the external programs that they
// compare with. A test that lacks something is skipped with "needs …". In an environment that is known to have it, a
// variable turns the skip into a failure:
//
//	BLIK_REQUIRE_SHARED=1  the pictures in ../shared/data and the tools in ../shared/tools
//	BLIK_REQUIRE_TOOLS=1   the programs that scripts/setup.sh installs for tests
//	BLIK_REQUIRE_XVFB=1    the programs behind the tests of the real window
//	BLIK_REQUIRE_GPU=1     a GPU
//
// It imports only the standard library and package processing, so that nearly every test can import it.
package testpic

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// The variables that turn a skip into a failure.
const (
	RequireShared = "BLIK_REQUIRE_SHARED"
	RequireTools  = "BLIK_REQUIRE_TOOLS"
	RequireXvfb   = "BLIK_REQUIRE_XVFB"
	RequireGPU    = "BLIK_REQUIRE_GPU"
)

// packages names the Debian packages of the programs and Python modules that scripts/setup.sh installs.
var packages = map[string]string{
	"exiftool": "libimage-exiftool-perl", "chromium": "chromium", "gcc": "gcc", "PIL": "python3-pil",
	"tiffcmp": "libtiff-tools", "tiffcp": "libtiff-tools", "tiffdump": "libtiff-tools", "tiffinfo": "libtiff-tools",
	"tiff2rgba": "libtiff-tools", "convert": "imagemagick", "vips": "libvips-tools",
}

// shared is the folder beside the repository. It is located before a test can change the working directory.
var shared = filepath.Join(repository(), "..", "shared")

// repository returns the folder with go.mod: a test starts in the folder of its package.
func repository() string {
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return "."
}

// Need skips the test unless ok.
func Need(t testing.TB, ok bool, what string) {
	t.Helper()
	if !ok {
		t.Skip("needs " + what)
	}
}

// Require skips the test unless ok, or fails it where the environment variable is set.
func Require(t testing.TB, ok bool, variable, what string) {
	t.Helper()
	if !ok && os.Getenv(variable) != "" {
		t.Fatalf("needs %s, and %s is set", what, variable)
	}
	Need(t, ok, what)
}

// Link makes a symbolic link, or skips the test: Windows allows it to some users only, and wine shows the files that
// links lead to in their place.
func Link(t testing.TB, target, name string) {
	t.Helper()
	err := os.Symlink(target, name)
	var info fs.FileInfo
	if err == nil {
		info, err = os.Lstat(name)
	}
	Need(t, err == nil && info.Mode()&fs.ModeSymlink != 0, "a system with symbolic links")
}

// Clock skips the test if the clock advances in steps of more than a tenth of a millisecond, as it may on Windows.
func Clock(t testing.TB) {
	t.Helper()
	start := time.Now()
	step := time.Duration(0)
	for step == 0 {
		step = time.Since(start)
	}
	Need(t, step < 100*time.Microsecond, "a clock of fine steps")
}

// Long skips the test in short runs.
func Long(t testing.TB) {
	t.Helper()
	Need(t, !testing.Short(), "a run without -short")
}

// SlowVariable is the environment variable with which slow tests run.
const SlowVariable = "BLIK_SLOW"

// Slow skips the test unless BLIK_SLOW is set, as make test-all does. It is for what takes many seconds and seldom
// finds something that others do not.
func Slow(t testing.TB) {
	t.Helper()
	Need(t, os.Getenv(SlowVariable) != "", SlowVariable+"=1 (make test-all)")
}

// NoRace skips the test under the race detector: other tests run the same goroutines there, and its arithmetic would
// take long.
func NoRace(t testing.TB) {
	t.Helper()
	Need(t, !Race, "a run without the race detector")
}

// Shared returns the path of a file or folder in ../shared/data, such as "io-samples".
func Shared(t testing.TB, name string) string {
	t.Helper()
	return inShared(t, filepath.Join("data", name))
}

// SharedTool returns the path of a program in ../shared/tools.
func SharedTool(t testing.TB, name string) string {
	t.Helper()
	return inShared(t, filepath.Join("tools", name))
}

func inShared(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(shared, name)
	_, err := os.Stat(path)
	Require(t, err == nil, RequireShared, filepath.Join("..", "shared", name))
	return path
}

// SharedFiles returns the files in ../shared/data that match one of the patterns, such as "io-samples/*.png".
func SharedFiles(t testing.TB, patterns ...string) []string {
	t.Helper()
	var files []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(shared, "data", pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	Require(t, len(files) > 0, RequireShared, filepath.Join("..", "shared", "data", strings.Join(patterns, ", ")))
	return files
}

// Program returns the path of an external program.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	requireInstalled(t, err == nil, name, name)
	return path
}

// Python returns a Python interpreter that has the modules.
func Python(t testing.TB, modules ...string) string {
	t.Helper()
	list := strings.Join(modules, ", ")
	interpreters := []string{"python3", "/usr/bin/python3"}
	i := slices.IndexFunc(interpreters, func(python string) bool { return imports(python, list) })
	requireInstalled(t, i >= 0, "Python with "+list, modules...)
	return interpreters[max(i, 0)]
}

// imported caches the results of imports, because starting Python is slow.
var imported sync.Map

// imports reports whether the interpreter can import the modules.
func imports(python, modules string) bool {
	command := python + " -c import " + modules
	ok, known := imported.Load(command)
	if !known {
		ok = exec.Command(python, "-c", "import "+modules).Run() == nil
		imported.Store(command, ok)
	}
	return ok.(bool)
}

// requireInstalled skips the test unless ok; if scripts/setup.sh installs all parts, BLIK_REQUIRE_TOOLS applies.
func requireInstalled(t testing.TB, ok bool, what string, parts ...string) {
	t.Helper()
	var names []string
	for _, part := range parts {
		part, _, _ = strings.Cut(part, ".")
		if packages[part] == "" {
			Need(t, ok, what)
			return
		}
		names = append(names, packages[part])
	}
	Require(t, ok, RequireTools, fmt.Sprintf("%s (Debian package %s)", what, strings.Join(names, ", ")))
}
