package cli

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	workbatch "blik/app/batch"
	"blik/app/farm"
	"blik/internal/test/testpic"
)

// lie changes what a worker delivers: the files in a folder, and what it says about them.
type lie struct {
	name string
	tell func(t *testing.T, folder string, o *farm.Outcome)
}

func overwrite(t *testing.T, folder, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
		t.Error(err)
	}
}

// withChunk returns a PNG with another chunk before its end.
func withChunk(data []byte, kind, text string) []byte {
	chunk := append([]byte(kind), text...)
	var b bytes.Buffer
	b.Write(data[:len(data)-12])
	_ = binary.Write(&b, binary.BigEndian, uint32(len(text))) // to a buffer
	b.Write(chunk)
	_ = binary.Write(&b, binary.BigEndian, crc32.ChecksumIEEE(chunk))
	b.Write(data[len(data)-12:])
	return b.Bytes()
}

func lies() []lie {
	add := func(name string) func(*testing.T, string, *farm.Outcome) {
		return func(t *testing.T, folder string, o *farm.Outcome) {
			overwrite(t, folder, name, []byte("evil"))
			o.Outputs = append(o.Outputs, farm.Output{Name: name})
		}
	}
	change := func(ending string, f func([]byte) []byte) func(*testing.T, string, *farm.Outcome) {
		return func(t *testing.T, folder string, o *farm.Outcome) {
			for _, out := range o.Outputs {
				if strings.HasSuffix(out.Name, ending) {
					overwrite(t, folder, out.Name, f(testpic.ReadFile(t, filepath.Join(folder, out.Name))))
				}
			}
		}
	}
	return []lie{
		{"text as a picture", change("_corrected.png", func([]byte) []byte { return []byte("evil") })},
		{"half a picture", change("_corrected.png", func(d []byte) []byte { return d[:len(d)/2] })},
		{"data behind the picture", change("_corrected.png", func(d []byte) []byte { return append(d, "evil"...) })},
		{"another chunk", change("_corrected.png", func(d []byte) []byte { return withChunk(d, "tEXt", "Comment\x00evil") })},
		{"a page that acts", change(".html", func(d []byte) []byte {
			return bytes.Replace(d, []byte("</body>"), []byte("<script>alert(1)</script></body>"), 1)
		})},
		{"a page that loads", change(".html", func(d []byte) []byte {
			return bytes.Replace(d, []byte("</body>"), []byte(`<img src="https://example.org/x"></body>`), 1)
		})},
		{"a report on another file", change(".json", func(d []byte) []byte {
			return bytes.Replace(d, []byte(`"sha256": "`), []byte(`"sha256": "0`), 1)
		})},
		{"a report with another figure", change(".json", func(d []byte) []byte {
			return bytes.Replace(d, []byte(`"pixels_changed": `), []byte(`"pixels_changed": 1`), 1)
		})},
		{"a hidden file", add(".profile")},
		{"a file more", add("notes.txt")},
		{"the name of an original", func(t *testing.T, folder string, o *farm.Outcome) {
			name := strings.Replace(o.Outputs[0].Name, "_corrected", "", 1)
			overwrite(t, folder, name, testpic.ReadFile(t, filepath.Join(folder, o.Outputs[0].Name)))
			o.Outputs[0].Name = name
		}},
		{"no report", func(_ *testing.T, _ string, o *farm.Outcome) { o.Outputs = o.Outputs[:1] }},
		{"nothing", func(_ *testing.T, _ string, o *farm.Outcome) { o.Outputs = nil }},
		{"one file twice", func(_ *testing.T, _ string, o *farm.Outcome) { o.Outputs = append(o.Outputs, o.Outputs[0]) }},
	}
}

// runnerFunc is a farm.Runner.
type runnerFunc func(ctx context.Context, t farm.Task) (farm.Outcome, error)

func (f runnerFunc) Run(ctx context.Context, t farm.Task) (farm.Outcome, error) { return f(ctx, t) }

// A worker that lies decides nothing on the submitter's disk: each of its results is refused and its file processed by
// another worker, even with --overwrite, and the results equal those of a direct run.
func TestLyingWorker(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	direct, out := filepath.Join(dir, "direct"), dir
	originals := map[string][]byte{}
	told := lies()
	for i := range len(told) + 1 {
		name := string(rune('a'+i)) + ".png"
		originals[name] = testpic.ReadFile(t, painting(t, dir, name))
	}
	pattern := filepath.Join(dir, "*.png")
	if got := call(t, "correct", "-q", "-o", direct, pattern); got.status != exitDone {
		t.Fatalf("%+v", got)
	}
	join, client := serving(t, "--patience", "5s")
	where, err := farm.ParseJoin(strings.TrimPrefix(join, "--join="))
	if err != nil {
		t.Fatal(err)
	}
	real := asChild(os.Args[0], []string{"farm", "task"})
	var count atomic.Int32
	lied := make(chan struct{})
	work := func(name string, r farm.Runner) {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		o := workbatch.Worker("1.2.3")
		o.Join, o.Name, o.Runner, o.Slots, o.Scratch = where, name, r, []farm.Slot{{Device: "cpu", Threads: 1}}, t.TempDir()
		o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
		go func() { ended <- farm.RunWorker(ctx, o) }()
		t.Cleanup(func() { stop(); <-ended })
	}
	work("honest", runnerFunc(func(ctx context.Context, task farm.Task) (farm.Outcome, error) {
		select {
		case <-lied:
		case <-ctx.Done():
			return farm.Outcome{}, ctx.Err()
		}
		return real.Run(ctx, task)
	}))
	for tick := time.NewTicker(10 * time.Millisecond); ; <-tick.C {
		if st, err := client.Status(t.Context(), "", 0); err == nil && len(st.Workers) == 1 {
			break
		}
	}
	work("liar", runnerFunc(func(ctx context.Context, task farm.Task) (farm.Outcome, error) {
		o, err := real.Run(ctx, task)
		n := int(count.Add(1)) - 1
		if err == nil && n < len(told) {
			told[n].tell(t, task.Folder, &o)
		}
		if n == len(told)-1 {
			close(lied)
		}
		return o, err
	}))
	got := call(t, "farm", "submit", join, "--upload", "--overwrite", "-o", out, pattern)
	if got.status != exitDone {
		t.Errorf("%+v", got)
	}
	if n := int(count.Load()); n < len(told) {
		t.Errorf("%d of %d lies were told", n, len(told))
	}
	// The names that a worker may not report do not even reach the submitter.
	if n := strings.Count(got.errors, "the result of worker liar was refused"); n < len(told)-2 {
		t.Errorf("%d of %d lies were found: %s", n, len(told), got.errors)
	}
	want := append(testpic.Listed(t, direct), "direct")
	for name, data := range originals {
		want = append(want, name)
		if !bytes.Equal(testpic.ReadFile(t, filepath.Join(dir, name)), data) {
			t.Errorf("the original %s was changed", name)
		}
	}
	slices.Sort(want)
	if have := testpic.Listed(t, out); !slices.Equal(have, want) {
		t.Errorf("the folder holds %v, want %v", have, want)
	}
	for _, name := range testpic.Listed(t, direct) {
		if strings.HasSuffix(name, ".png") && !bytes.Equal(testpic.ReadFile(t, filepath.Join(direct, name)), testpic.ReadFile(t, filepath.Join(out, name))) {
			t.Errorf("%s differs from a direct run", name)
		}
	}
}
