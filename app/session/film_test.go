package session_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blik/app/document"
	"blik/app/imagefile"
	"blik/app/session/film"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/detect"
)

// strip returns the filmstrip as text.
func (f *fake) strip() string {
	var all []string
	for _, frame := range f.Frames() {
		text := fmt.Sprint(filepath.Base(frame.Path), " ", frame.State, " ", frame.Findings)
		if frame.Err != nil {
			text += " failed"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// filmed returns a session with a folder of pictures in its filmstrip, the first of which is open.
func filmed(t *testing.T, replace ...func(m *made)) (*fake, string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"c.png", "a.png", "b.PNG", "a_corrected.png", "z.png.blik.png", "a_mask.png", "b.txt",
		".hidden.png"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.png"), 0o700); err != nil {
		t.Fatal(err)
	}
	f := newFake(t, replace...).opened(filepath.Join(dir, "a.png"))
	if n := f.Film.Add([]string{dir}); n != 3 {
		t.Fatalf("%d pictures were added: %s", n, f.strip())
	}
	return f, dir
}

// The filmstrip holds each picture of a folder once, without results, and follows the work on the open one.
func TestFilm(t *testing.T) {
	t.Parallel()
	f, dir := filmed(t)
	if got := f.strip(); got != "a.png 0 0, b.PNG 0 0, c.png 0 0" {
		t.Errorf("the filmstrip is %s", got)
	}
	if n := f.Film.Add([]string{dir, filepath.Join(dir, "c.png")}); n != 0 {
		t.Errorf("%d were added again", n)
	}
	f.Detect(f.outcome)
	f.settle()
	if got := f.strip(); !strings.HasPrefix(got, "a.png 1 2,") {
		t.Errorf("found: %s", got)
	}
	f.ClearMask()
	if got := f.strip(); !strings.HasPrefix(got, "a.png 4 0,") {
		t.Errorf("searched with nothing marked: %s", got)
	}
	f.Undo()
	f.CorrectAll(f.outcome)
	f.settle()
	if got := f.strip(); !strings.HasPrefix(got, "a.png 2 2,") {
		t.Errorf("corrected: %s", got)
	}
	f.SavePicture("/b.png", "", imagefile.SaveOptions{}, f.ok)
	f.settle()
	if got := f.strip(); !strings.HasPrefix(got, "a.png 3 2,") {
		t.Errorf("saved: %s", got)
	}
	if path, ok := f.Film.Beside(f.Document().Path(), 1); !ok || filepath.Base(path) != "b.PNG" {
		t.Errorf("beside the first is %s", path)
	}
	if _, ok := f.Film.Beside(f.Document().Path(), -1); ok {
		t.Error("there is a picture before the first")
	}
	f.Film.Clear()
	if len(f.Frames()) != 0 || f.Document() == nil {
		t.Error("closing the filmstrip closes the picture, or leaves frames")
	}
}

// A batch detects glare in every picture, then corrects and saves it, and respects decisions of the user. It reports
// errors and continues. Running it again does nothing.
func TestBatch(t *testing.T) {
	t.Parallel()
	f, dir := filmed(t)
	f.Detect(f.outcome)
	f.settle()
	f.SelectNext(1)
	f.RemoveSelected()
	f.SaveProject(false, f.ok)
	f.settle()
	f.Film.Add([]string{filepath.Join(dir, "gone.tif")})
	batch := func(correct bool, want film.Batch, strip string) {
		t.Helper()
		var got film.Batch
		f.RunBatch(correct, "en", func(b film.Batch, err error) {
			f.ok(err)
			got = b
		})
		f.settle()
		if got != want || f.strip() != strip {
			t.Errorf("batch %v: %+v, %s; want %+v, %s", correct, got, f.strip(), want, strip)
		}
	}
	batch(false, film.Batch{Done: 1, Skipped: 1, Failed: 2}, "a.png 1 1, b.PNG 0 0 failed, c.png 1 2, gone.tif 0 0 failed")
	batch(true, film.Batch{Done: 2, Failed: 2}, "a.png 3 1, b.PNG 0 0 failed, c.png 3 2, gone.tif 0 0 failed")
	want := []string{filepath.Join(dir, "a_corrected.png"), filepath.Join(dir, "c_corrected.png")}
	if !slices.Equal(f.saved, want) || len(f.reports) != 2 {
		t.Errorf("saved are %v with %d reports, want %v", f.saved, len(f.reports), want)
	}
	batch(true, film.Batch{Skipped: 2, Failed: 2}, "a.png 3 1, b.PNG 0 0 failed, c.png 3 2, gone.tif 0 0 failed")
	if mask, picture := f.Unsaved(); mask || picture || f.Document().Spots()[0].State != document.Corrected {
		t.Error("the open picture does not show what the batch did")
	}
	f.exists = true
	f.Open(filepath.Join(dir, "c.png"), f.ok)
	f.settle()
	f.BeginStroke(document.Brush{Radius: 2}, processing.Point{X: 12, Y: 12})
	f.EndStroke()
	f.SaveProject(false, f.ok)
	f.settle()
	batch(true, film.Batch{Skipped: 1, Failed: 3}, "a.png 3 1, b.PNG 0 0 failed, c.png 1 3 failed, gone.tif 0 0 failed")
}

// doubtful is an engine of which a person should look at the first finding.
type doubtful struct{ engineOf }

func (e doubtful) Detect(ctx context.Context, pic *processing.Picture, p processing.Params, o detect.Options) (
	*detect.Result, *message.Message, error,
) {
	r, notice, err := e.engineOf.Detect(ctx, pic, p, o)
	r.Findings[0].Check = true
	return r, notice, err
}

// A batch leaves findings that a person should look at, and running it again does nothing.
func TestBatchLeaves(t *testing.T) {
	t.Parallel()
	f, _ := filmed(t, func(m *made) { m.engine = doubtful{} })
	for _, want := range []film.Batch{{Done: 2, Failed: 1}, {Skipped: 2, Failed: 1}} {
		var got film.Batch
		f.RunBatch(true, "en", func(b film.Batch, err error) {
			f.ok(err)
			got = b
		})
		f.settle()
		f.exists = true
		left := film.Standing{State: film.FrameFound, Findings: 2, Left: 1}
		if a := f.Frames()[0]; got != want || a.Standing != left || a.Err != nil || len(f.saved) != 2 {
			t.Errorf("batch %+v, want %+v; %+v; %d saved", got, want, a, len(f.saved))
		}
	}
}

// What the user paints on the open picture during a batch is not lost.
func TestPaintingDuringABatch(t *testing.T) {
	t.Parallel()
	f, _ := filmed(t)
	var got film.Batch
	f.RunBatch(false, "", func(b film.Batch, err error) {
		f.ok(err)
		got = b
	})
	f.BeginStroke(document.Brush{Radius: 2}, processing.Point{X: 12, Y: 12})
	f.EndStroke()
	painted := slices.Clone(f.Document().Mask().Pix)
	f.settle()
	if !got.Changed || !slices.Equal(f.Document().Mask().Pix, painted) {
		t.Errorf("the stroke is lost; %+v", got)
	}
}

// A cancelled batch stops and returns context.Canceled.
func TestBatchCancelled(t *testing.T) {
	t.Parallel()
	f, _ := filmed(t)
	var got error
	f.RunBatch(true, "", func(_ film.Batch, err error) { got = err })
	f.Cancel()
	f.settle()
	if !errors.Is(got, context.Canceled) {
		t.Errorf("cancelled: %v", got)
	}
}
