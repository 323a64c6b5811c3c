package ui

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/widget"

	"blik/app/batch"
	"blik/app/farm"
	"blik/internal/test/testpic"
	"blik/internal/test/uitest"
	"blik/ui/xwidget"
)

// copier processes a file by copying it; c.png fails.
type copier struct{}

func (copier) Run(_ context.Context, t farm.Task) (farm.Outcome, error) {
	name := filepath.Base(t.Input)
	if name == "c.png" {
		return farm.Outcome{End: farm.Failed, Sentence: "the file is damaged"}, nil
	}
	err := os.WriteFile(filepath.Join(t.Folder, name+".result"), nil, 0o600)
	return farm.Outcome{End: farm.Done, Outputs: []farm.Output{{Name: name + ".result"}}}, err
}

// The pictures of the filmstrip are processed as a batch: the dialog asks where, shows progress and failures, and opens
// a result.
func TestBatchDialogs(t *testing.T) {
	for _, lang := range languages() {
		t.Run(lang, func(t *testing.T) { batchDialogs(t, lang) })
	}
}

func batchDialogs(t *testing.T, lang string) {
	dir := t.TempDir()
	h := newHarness(t, lang)
	if h.k.actions.can("film.farm") {
		t.Error("a batch is offered without pictures")
	}
	for _, name := range []string{"a.png", "b.png", "c.png"} {
		path := filepath.Join(dir, name)
		h.pictures[path] = testpic.Flat(200, 100, 3, 100)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.openFirst(Options{Files: []string{dir}}) // as the program does that was started with a folder
	h.settle()
	var asked batch.Request
	h.adapt = func(r *batch.Request) {
		asked = *r
		r.Store = filepath.Join(dir, "store")
		r.Worker = func(o *farm.WorkerOptions) {
			o.Runner, o.Slots, o.Memory = copier{}, []farm.Slot{{Device: "cpu", Threads: 1}}, nil
		}
	}
	h.k.actions.do("film.farm")
	top := h.win.Canvas().Overlays().Top()
	for _, e := range uitest.Find[*widget.Entry](top) {
		if strings.HasPrefix(e.Text, dir) {
			e.SetText(filepath.Join(dir, "out"))
		}
	}
	if n := len(uitest.Find[*widget.Entry](top)); n != 1 {
		t.Errorf("for this computer the dialog has %d fields", n)
	}
	radios := uitest.Find[*xwidget.Radio](top)
	radios[1].SetSelected(radios[1].Options[1])
	if n := len(uitest.Find[*widget.Entry](top)); n != 2 {
		t.Errorf("for a farm the dialog has %d fields", n)
	}
	radios[1].SetSelected(radios[1].Options[0])
	h.press(h.k.t("Start"))
	timeout := time.After(time.Minute)
	for !h.batches.State().Ended {
		select {
		case f := <-h.queue:
			f()
		case <-timeout:
			t.Fatalf("the batch does not end: %+v", h.batches.State())
		}
	}
	if asked.Farm != "" || asked.Detect || len(asked.Files) != 3 || asked.Folder != filepath.Join(dir, "out") || asked.Language != lang {
		t.Errorf("asked for %+v", asked)
	}
	said := h.dialogTexts()
	if !strings.Contains(said, h.k.t("Batch: %s of %s done, %s failed", "2", "3", "1")) || !strings.Contains(said, "c.png: the file is damaged") {
		t.Errorf("the dialog says %q", said)
	}
	checkMarkup(t, lang+"/batch.xml", h.win.Canvas().Overlays().Top())
	results := uitest.Find[*xwidget.Select](h.win.Canvas().Overlays().Top())
	if len(results) != 1 || len(results[0].Options) != 2 {
		t.Fatalf("the results: %+v", results)
	}
	h.pictures[h.batches.State().Results[1]] = testpic.Flat(30, 20, 3, 100)
	results[0].SetSelectedIndex(1)
	h.settle()
	if got := h.c.session.Document().Path(); got != h.batches.State().Results[1] || h.dialogTexts() != "" {
		t.Errorf("%s is open, and the dialog says %q", got, h.dialogTexts())
	}
	// An unreachable farm is reported.
	h.batches.Start(batch.Request{Files: asked.Files, Folder: asked.Folder, Farm: "nats://127.0.0.1:1", Work: asked.Work})
	for !h.batches.State().Ended {
		(<-h.queue)()
	}
	if said := h.dialogTexts(); !strings.Contains(said, "blik farm serve") {
		t.Errorf("farm not reachable: the dialog says %q", said)
	}
}
