// Package containertest holds what the tests of all containers need.
package containertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"blik/app/imagefile/container"
	"blik/internal/test/testpic"
	"blik/processing"
)

// T contains the methods of testing.TB and *rapid.T that this package needs.
type T interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// Opener is the function Open of a container.
type Opener[C container.Container] func(r io.ReaderAt, size int64) (C, error)

// Open opens a file that must be valid.
func Open[C container.Container](t T, open Opener[C], data []byte) C {
	t.Helper()
	c, err := open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Decode decodes a file that must be valid.
func Decode[C container.Container](t T, open Opener[C], data []byte) *processing.Picture {
	t.Helper()
	pic, err := Open(t, open, data).Decode(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return pic
}

// Rewrite returns the file with the patches.
func Rewrite[C container.Rewriter](t T, open Opener[C], data []byte, patches []processing.Patch) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Open(t, open, data).Rewrite(context.Background(), &out, patches); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Fault fails unless the error is one clear clause.
func Fault(t T, err error) {
	t.Helper()
	var fault *container.Fault
	if !errors.As(err, &fault) || fault.Text.IsZero() || strings.Contains(fault.Error(), "%!") {
		t.Fatalf("not a fault: %v", err)
	}
}

// Attempt decodes arbitrary data. It fails for errors that are not faults and for invalid pictures. It returns false if
// there is no picture or one with too many pixels.
func Attempt[C container.Container](
	t T, open Opener[C], data []byte, pixels int64,
) (c C, p *processing.Picture, ok bool) {
	t.Helper()
	c, err := open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		Fault(t, err)
		return c, nil, false
	}
	i := c.Info()
	if int64(i.Width)*int64(i.Height) > pixels || i.Raw > 1<<23 || i.Scratch > 64<<20 {
		return c, nil, false
	}
	p, err = c.Decode(context.Background())
	if err != nil {
		Fault(t, err)
		return c, nil, false
	}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	return c, p, true
}

// Truncations truncates a file at every length; each time there must be a fault.
func Truncations[C container.Container](t T, open Opener[C], data []byte) {
	t.Helper()
	for n := range len(data) - 1 {
		c, err := open(bytes.NewReader(data[:n]), int64(n))
		if err == nil {
			_, err = c.Decode(context.Background())
		}
		if err == nil {
			t.Fatalf("%d of %d bytes decode", n, len(data))
		}
		Fault(t, err)
	}
}

// Refuses fails if any of the patches, which do not fit, is written.
func Refuses(t *testing.T, c container.Rewriter, patches map[string]processing.Patch) {
	t.Helper()
	for name, p := range patches {
		var out bytes.Buffer
		if err := c.Rewrite(t.Context(), &out, []processing.Patch{p}); err == nil || out.Len() > 0 {
			t.Errorf("%s: error %v, %d bytes written", name, err, out.Len())
		}
	}
}

// ExifTool lists all metadata of files, as JSON, except those of the file system.
func ExifTool(t *testing.T, paths ...string) []map[string]string {
	t.Helper()
	args := append([]string{"-j", "-G1", "-a", "-u"}, paths...)
	out, err := exec.Command(testpic.Program(t, "exiftool"), args...).Output()
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	var files []map[string]json.RawMessage
	if err := json.Unmarshal(out, &files); err != nil || len(files) != len(paths) {
		t.Fatalf("exiftool said %q: %v", out, err)
	}
	var list []map[string]string
	for _, file := range files {
		tags := map[string]string{}
		for tag, value := range file {
			if tag != "SourceFile" && !strings.HasPrefix(tag, "System:") && !strings.HasPrefix(tag, "ExifTool:") {
				tags[tag] = string(value)
			}
		}
		list = append(list, tags)
	}
	return list
}

// Properties calls check with each shared sample that has one of the extensions, and with its properties according to
// libvips.
func Properties(t *testing.T, check func(t *testing.T, data []byte, want map[string]string), extensions ...string) {
	t.Helper()
	text, err := os.ReadFile(testpic.Shared(t, "io-samples/properties.json"))
	if err != nil {
		t.Fatal(err)
	}
	var files map[string]map[string]string
	if err := json.Unmarshal(text, &files); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for name, want := range files {
		for _, extension := range extensions {
			if filepath.Ext(name) != extension {
				continue
			}
			seen++
			t.Run(name, func(t *testing.T) {
				data, err := os.ReadFile(testpic.Shared(t, "io-samples/"+name))
				if err != nil {
					t.Fatal(err)
				}
				check(t, data, want)
			})
		}
	}
	if seen == 0 {
		t.Errorf("no sample ends in %v", extensions)
	}
}

// Same compares properties by name.
func Same(t *testing.T, got, want map[string]string) {
	t.Helper()
	for key, v := range got {
		if v != want[key] {
			t.Errorf("%s is %s, want %s", key, v, want[key])
		}
	}
}
