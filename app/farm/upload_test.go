package farm

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// lenient is a Checker that accepts everything.
type lenient struct{}

func (lenient) Names(string, []string) error                          { return nil }
func (lenient) Check(context.Context, string, string, []string) error { return nil }

// No result leads to a file outside its folder, or to one that a system hides.
func TestNamesOfResults(t *testing.T) {
	t.Parallel()
	k := &collector{Collection: Collection{Folder: t.TempDir(), Checker: lenient{}}}
	for _, folder := range []string{"../out", "/tmp"} {
		if _, err := k.collect(t.Context(), Job{Out: Place{Path: folder}}, Result{}); err == nil {
			t.Errorf("a folder %s", folder)
		}
	}
	sum := strings.Repeat("0", 64)
	for _, name := range []string{"../x", "a/b", "CON", "..", ".", "", ".profile", "x\x00", "a\\b", strings.Repeat("x", 300)} {
		r := Result{Outcome: Outcome{Outputs: []Output{{Name: name, SHA256: sum}}}}
		var bad *Suspicion
		if _, err := k.collect(t.Context(), Job{Out: Place{Path: "x"}}, r); !errors.As(err, &bad) {
			t.Errorf("%q leads to a file: %v", name, err)
		}
	}
}
