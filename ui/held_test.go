package ui

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"blik/app/device"
	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/app/session"
	"blik/app/session/store"
	"blik/app/settings"
	"blik/internal/test/uitest"
	"blik/ui/filedialog"
	"blik/ui/prompt"
	"blik/ui/xwidget"
)

// BenchmarkHeld measures, on a picture of 18.7 megapixels, the run time of functions that jobs post to the window's
// goroutine, including the updates of all parts of the window but not painting. It prints the longest of each command,
// as the minimum of several repetitions, with nothing else running in this process.
//
//	go test -run '^$' -bench Held -benchtime 5x ./ui
func BenchmarkHeld(b *testing.B) {
	queue := make(chan func(), 10000)
	chosen, devices := settings.Default(), device.NewSwitch()
	home := b.TempDir()
	w := newWindow(test.NewTempApp(b), config{
		texts: i18n.For("en"), version: "test",
		dialogs: func(*prompt.Prompts, fyne.Window, *xwidget.Modals) filedialog.Dialogs { return &fakeDialogs{} },
		store:   store.Options{Files: store.Disk(session.Limits()), Journal: filepath.Join(home, "unsaved")},
		engine:  session.On(devices), device: devices,
		machine: func() ([]device.Device, error) { return nil, nil },
		session: session.Options{Settings: &chosen, Dispatch: func(f func()) { queue <- f }},
	})
	defer w.win.Close()
	w.win.Resize(fyne.NewSize(1600, 1000))
	picture := uitest.Tiled(b, 4994, 3745)
	longest := map[string][]time.Duration{}
	run := func(name string, do func()) {
		most := time.Duration(0)
		timed := func(f func()) {
			begun := time.Now()
			f()
			most = max(most, time.Since(begun))
		}
		timed(do)
		for w.c.session.Busy() || len(queue) > 0 {
			timed(<-queue)
		}
		longest[name] = append(longest[name], most)
	}
	names := []string{"open", "detect", "correct all", "undo", "undo detection", "redo", "redo correction", "save"}
	for range b.N {
		run("open", func() {
			w.c.store.Open(picture, func(err error) { w.k.prompts.Ended("Could not open the picture", err) })
		})
		run("detect", w.c.treatment.detect)
		run("correct all", w.c.treatment.correctAll)
		run("undo", w.k.toolbox.undo)
		run("undo detection", w.k.toolbox.undo)
		run("redo", w.k.toolbox.redo)
		run("redo correction", w.k.toolbox.redo)
		path := filepath.Join(home, "corrected.png")
		run("save", func() { w.files.WritePicture(path, imagefile.SaveOptions{Overwrite: true}, func() {}) })
	}
	for _, name := range names {
		slices.Sort(longest[name])
		b.Logf("%-15s longest %6.1f ms", name, longest[name][0].Seconds()*1e3)
	}
}
