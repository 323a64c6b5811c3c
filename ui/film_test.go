package ui

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/storage"

	"blik/app/document"
	"blik/internal/test/testpic"
	"blik/processing"
)

// The filmstrip shows the pictures of a folder with their state. A click and keys switch between them, and the work on
// each is stored without a question.
func TestFilmstrip(t *testing.T) {
	dir := t.TempDir()
	h := newHarness(t, "en")
	for _, name := range []string{"a.png", "b.png", "c.png"} {
		path := filepath.Join(dir, name)
		h.pictures[path] = testpic.Flat(200, 100, 3, 100)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if h.film.Object.Visible() || h.k.actions.can("film.find") {
		t.Error("the filmstrip is visible without pictures")
	}
	h.files.Dropped(fyne.Position{}, []fyne.URI{storage.NewFileURI(t.TempDir())})
	if h.film.Object.Visible() || !strings.HasPrefix(h.status.message.Text(), "No pictures in the folder") {
		t.Errorf("an empty folder was dropped: filmstrip visible %v, message %q", h.film.Object.Visible(),
			h.status.message.Text())
	}
	h.files.Dropped(fyne.Position{}, []fyne.URI{storage.NewFileURI(dir)})
	h.settle()
	state := func(what, want string) {
		t.Helper()
		got := ""
		for _, item := range h.film.Items {
			if item.Visible() {
				got += item.Name.Text() + " " + item.State.Text() + "; "
			}
		}
		if got != want {
			t.Errorf("%s: the filmstrip says %q, want %q", what, got, want)
		}
	}
	if h.c.session.Document() == nil || !h.film.Object.Visible() {
		t.Fatal("dropping a folder did not fill the filmstrip")
	}
	state("dropped", "a.png to do; b.png to do; c.png to do; ")
	h.k.actions.do("find.run")
	h.settle()
	h.k.actions.do("film.next")
	h.settle()
	if got := filepath.Base(h.c.session.Document().Path()); got != "b.png" || !h.film.Items[1].Current {
		t.Errorf("the next picture is %s", got)
	}
	state("went on", "a.png 2 findings; b.png to do; c.png to do; ")
	h.film.Items[0].Tapped(nil)
	h.settle()
	h.checkList("gone back", "1|22|10|4|3.5||–", "2|101|50|2|3.5||–")
	for _, id := range []string{"find.next", "correct.selected"} {
		h.k.actions.do(id)
		h.settle()
	}
	state("one corrected", "a.png 1 left; b.png to do; c.png to do; ")
	h.k.actions.do("edit.undo")
	if h.k.actions.can("film.previous") {
		t.Error("a picture before the first is offered")
	}
	// The project also stores corrections that are saved, and that they are, whether it is saved before or after.
	for _, id := range []string{
		"correct.all", "file.savePicture", "film.next", "film.previous", "film.next",
		"find.run", "correct.all", "file.saveProject", "file.savePicture", "film.previous", "film.next",
		"film.previous",
	} {
		h.k.actions.do(id)
		h.settle()
	}
	state("saved", "a.png saved; b.png saved; c.png to do; ")
	h.k.actions.do("film.correct")
	h.settle()
	state("batch", "a.png saved; b.png saved; c.png saved; ")
	if text := h.status.message.Text(); text != "1 done, 2 skipped, 0 failed" {
		t.Errorf("the status says %q", text)
	}
	if len(h.pictureFiles) != 3 {
		t.Errorf("%d pictures were saved", len(h.pictureFiles))
	}
	// The mask would cover what the batch has corrected.
	h.k.actions.do("film.next")
	h.settle()
	if h.k.display.maskShown {
		t.Error("the mask is shown over a picture whose findings are all corrected")
	}
	h.files.Open("/art/a.png")
	h.settle()
	if !h.k.display.maskShown {
		t.Error("the mask of another picture stays hidden")
	}
	h.k.actions.do("film.close")
	if h.film.Object.Visible() {
		t.Error("the filmstrip is still visible")
	}
}

// dropFolder drops a new folder on the window, with pictures and files that cannot be opened.
func (h *harness) dropFolder(pictures []string, damaged ...string) {
	h.tb.Helper()
	dir := h.tb.TempDir()
	for _, name := range slices.Concat(pictures, damaged) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			h.tb.Fatal(err)
		}
		if slices.Contains(pictures, name) {
			h.pictures[path] = testpic.Flat(20, 10, 3, 100)
		}
	}
	h.files.Dropped(fyne.Position{}, []fyne.URI{storage.NewFileURI(dir)})
	h.settle()
}

// Pictures that are stepped through faster than they open are skipped: each step counts from the last one.
func TestStepsWhileOpening(t *testing.T) {
	h := newHarness(t, "en")
	h.dropFolder([]string{"a.png", "b.png", "c.png", "d.png"})
	for _, c := range []struct{ steps, want string }{
		{"next next next", "d.png"}, {"previous next previous", "c.png"}, {"previous previous previous", "a.png"},
		{"next previous", "a.png"},
	} {
		for _, step := range strings.Fields(c.steps) {
			if h.k.actions.can("film." + step) {
				h.k.actions.do("film." + step)
			}
		}
		if waiting := h.c.session.Queue().Waiting(); len(waiting) > 1 {
			t.Errorf("%s: %d wait", c.steps, len(waiting))
		}
		h.settle()
		if got := filepath.Base(h.c.session.Document().Path()); got != c.want {
			t.Errorf("%s: %s is open, want %s", c.steps, got, c.want)
		}
	}
}

// After opening a picture was cancelled, a step leads to it again.
func TestStepAfterCancel(t *testing.T) {
	h := newHarness(t, "en")
	h.dropFolder([]string{"a.png", "b.png", "c.png"})
	h.reading = make(chan struct{})
	h.k.actions.do("film.next")
	h.c.session.Cancel()
	h.settle()
	h.reading = nil
	h.k.actions.do("film.next")
	h.settle()
	if got := filepath.Base(h.c.session.Document().Path()); got != "b.png" {
		t.Errorf("%s is open", got)
	}
}

// What was painted on the open picture during a batch stays, and the message says so.
func TestPaintingDuringABatch(t *testing.T) {
	h := newHarness(t, "en")
	h.dropFolder([]string{"a.png", "b.png"})
	h.k.actions.do("film.find")
	h.c.editor.BeginStroke(document.Brush{Radius: 2}, processing.Point{X: 5, Y: 5})
	h.c.editor.EndStroke()
	h.settle()
	if got := h.status.message.Text(); !strings.HasSuffix(got, "open it again to see the result") ||
		h.c.session.Document().Stats().Area == 0 {
		t.Errorf("the status bar says %q, %d pixels are marked", got, h.c.session.Document().Stats().Area)
	}
}

// A picture that cannot be opened is no end for the keys, nor for a click, even if it is the first.
func TestStepsPastAFailure(t *testing.T) {
	h := newHarness(t, "en")
	h.dropFolder([]string{"b.png", "d.png"}, "a.png", "c.png")
	open := func(want string) {
		t.Helper()
		h.settle()
		if h.dialogOpen() {
			h.press("OK")
		}
		got := ""
		if doc := h.c.session.Document(); doc != nil {
			got = filepath.Base(doc.Path())
		}
		if got != want {
			t.Errorf("%q is open, want %q", got, want)
		}
	}
	open("")
	for _, want := range []string{"b.png", "b.png", "d.png"} {
		h.k.actions.do("film.next")
		open(want)
	}
	h.k.actions.do("film.previous")
	open("d.png")
	h.film.Items[3].Tapped(nil)
	open("d.png")
	h.k.actions.do("film.previous")
	open("d.png")
	h.k.actions.do("film.previous")
	open("b.png")
}

// The Tab key shows a ring in the filmstrip, the arrow keys move it, Enter opens the picture.
func TestFilmstripByKeys(t *testing.T) {
	h := newHarness(t, "en")
	h.dropFolder([]string{"a.png", "b.png", "c.png"})
	c := h.film.Cursor
	h.win.Canvas().Focus(c)
	ring := func() (at []int) {
		for i, item := range h.film.Items {
			if item.Ringed() {
				at = append(at, i)
			}
		}
		return at
	}
	key := func(k fyne.KeyName) { c.TypedKey(&fyne.KeyEvent{Name: k}) }
	if got := ring(); !slices.Equal(got, []int{0}) {
		t.Errorf("the ring is around %v", got)
	}
	key(fyne.KeyEnd)
	key(fyne.KeyRight)
	last := len(h.c.frames.Frames()) - 1
	if got := ring(); !slices.Equal(got, []int{last}) {
		t.Errorf("at the end, the ring is around %v", got)
	}
	key(fyne.KeyReturn)
	h.settle()
	if doc := h.c.session.Document(); doc == nil || doc.Path() != h.c.frames.Frames()[last].Path {
		t.Error("Enter does not open the picture")
	}
	key(fyne.KeyHome)
	key(fyne.KeyLeft)
	if got := ring(); !slices.Equal(got, []int{0}) {
		t.Errorf("at the beginning, the ring is around %v", got)
	}
	c.TypedRune('b')
	if h.k.toolbox.current.ID != "tool.brush" {
		t.Error("the letters of the tools do not work")
	}
	h.win.Canvas().Unfocus()
	if got := ring(); got != nil {
		t.Errorf("without the focus, the ring is around %v", got)
	}
}

// Where no project can be written, the filmstrip asks what to do with the work.
func TestFilmstripWithoutProjects(t *testing.T) {
	dir := t.TempDir()
	h := newHarness(t, "en")
	for _, name := range []string{"a.png", "b.png"} {
		path := filepath.Join(dir, name)
		h.pictures[path] = testpic.Flat(200, 100, 3, 100)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.files.Dropped(fyne.Position{}, []fyne.URI{storage.NewFileURI(dir)})
	h.settle()
	// No folder for projects can be made in a file.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"find.run", "film.next"} {
		h.k.actions.do(id)
		h.settle()
	}
	h.press("Don't save")
	h.settle()
	if got := filepath.Base(h.c.session.Document().Path()); got != "b.png" {
		t.Errorf("%s is open", got)
	}
}
