package testpic

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder records the outcome of a test instead of ending it.
type recorder struct {
	testing.TB
	skipped, failed string
}

func (r *recorder) Helper() {}

func (r *recorder) Skip(args ...any) { r.skipped = args[0].(string) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.failed = args[0].(string) + " " + args[1].(string)
}

func TestSkipsBecomeFailures(t *testing.T) {
	for _, c := range []struct {
		name, variable, what string
		need                 func(testing.TB)
	}{
		{"file", RequireShared, "../shared/data/absent/file", func(t testing.TB) { Shared(t, "absent/file") }},
		{"tool", RequireShared, "../shared/tools/absent.py", func(t testing.TB) { SharedTool(t, "absent.py") }},
		{"files", RequireShared, "../shared/data/absent/*.tif, absent/*.png", func(t testing.TB) {
			SharedFiles(t, "absent/*.tif", "absent/*.png")
		}},
		{"program", RequireTools, "exiftool (Debian package libimage-exiftool-perl)", func(t testing.TB) {
			Program(t, "exiftool")
		}},
		{"own", RequireGPU, "a GPU", func(t testing.TB) { Require(t, false, RequireGPU, "a GPU") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("PATH", "")
			t.Setenv(c.variable, "")
			var r recorder
			c.need(&r)
			if r.skipped != "needs "+c.what || r.failed != "" {
				t.Errorf("skipped %q, failed %q", r.skipped, r.failed)
			}
			t.Setenv(c.variable, "1")
			r = recorder{}
			c.need(&r)
			if r.failed != c.what+" "+c.variable {
				t.Errorf("with %s=1: %q", c.variable, r.failed)
			}
		})
	}
}

// A program that setup.sh does not install is never required.
func TestOtherProgramsAreNotRequired(t *testing.T) {
	t.Setenv(RequireTools, "1")
	var r recorder
	Python(&r, "a_module_that_nobody_has")
	if r.failed != "" || r.skipped != "needs Python with a_module_that_nobody_has" {
		t.Errorf("skipped %q, failed %q", r.skipped, r.failed)
	}
}

// The table of packages contains only programs that setup.sh installs.
func TestPackagesAreInstalled(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("..", "..", "..", "scripts", "setup.sh"))
	if err != nil {
		t.Fatal(err)
	}
	for part, name := range packages {
		if !strings.Contains(string(script), name) {
			t.Errorf("scripts/setup.sh does not install %s for %s", name, part)
		}
	}
}
