package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file whose results would have names that are too long is refused in one sentence, and the others are done.
func TestLongNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		fits bool
	}{
		{strings.Repeat("a", 241) + ".png", true}, {strings.Repeat("a", 242) + ".png", false},
		{strings.Repeat("a", 251) + ".png", false}, {strings.Repeat("ж", 120) + ".png", true}, {strings.Repeat("ж", 125) + ".png", false},
	} {
		for _, args := range [][]string{{"correct", "--no-report"}, {"detect"}} {
			dir := t.TempDir()
			in, other, out := painting(t, dir, c.name), painting(t, dir, "b.png"), filepath.Join(dir, "out")
			got := call(t, append(args, "-q", "-o", out, in, other)...)
			if (got.status == exitDone) != c.fits || strings.Contains(got.errors, "the name of a result would be") == c.fits {
				t.Errorf("%s of a name of %d bytes: %+v", args[0], len(c.name), got)
			}
			if _, err := os.Stat(filepath.Join(out, map[string]string{"correct": "b_corrected.png", "detect": "b_mask.png"}[args[0]])); err != nil {
				t.Errorf("%s of a name of %d bytes: the other file: %v", args[0], len(c.name), err)
			}
		}
	}
}
