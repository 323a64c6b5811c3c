package ui

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"
	"fyne.io/fyne/v2/lang"

	"blik/app/batch"
	"blik/app/crash"
	"blik/app/device"
	"blik/app/i18n"
	"blik/app/session"
	"blik/app/session/store"
	"blik/app/settings"
	"blik/app/thumbnail"
	"blik/assets"
	"blik/internal/message"
	"blik/ui/look"
	"blik/ui/post"
	"blik/ui/prompt"
	"blik/ui/room"
	"blik/ui/screen"
)

// appID identifies the program to the system; FyneApp.toml states the same.
const appID = "org.blik.Blik"

// Options of Run.
type Options struct {
	// Files are opened at start: the first in the window, several also in its filmstrip.
	Files []string
	// Lang is the code of the initial language; empty for that of the settings, or else the system's.
	Lang string
	// Detect searches the first file for glare as soon as it is open.
	Detect bool
	// Version is shown in the About box.
	Version string
	// Queue starts the queue of a batch on this computer.
	Queue batch.Host
	// Timing makes the timing view; nil in a build without one.
	Timing func(Host, *i18n.Printer) TimingView
	// Crash is the program's crash log, which records panics of jobs; it may be nil.
	Crash *crash.Guard
	// Watch, which may be nil, is called before the window handles events, with a function that posts others to its
	// goroutine. It is for measurements.
	Watch func(post func(func()))
}

// Run shows the window and returns when it is closed. It must be called from the main goroutine. When ctx ends, the
// window closes without asking.
//
// Three environment variables are for tests and measurements: BLIK_DIALOGS=fyne uses the toolkit's own file dialogs
// instead of the system's, BLIK_UI_LOG names a file for the lines of an Observer, and BLIK_DRAWING is shader.Variable.
func Run(ctx context.Context, o Options) error {
	room.Make()
	files := store.Disk(session.Limits())
	var ahead *store.Ahead
	if len(o.Files) > 0 {
		ahead = store.ReadAhead(ctx, files, o.Files[0])
	}
	// The toolkit would end the program with a stack trace, or silently.
	_, picture, err := screen.Renderer()
	if err != nil {
		return err
	}
	observer, closeLog, err := fileObserver(os.Getenv("BLIK_UI_LOG"))
	if err != nil {
		return err
	}
	defer closeLog()

	path, err := settings.Path()
	if err != nil {
		return fmt.Errorf("place of the settings: %w", err)
	}
	// Settings that cannot be read are replaced by defaults; the window reports that once it is open.
	stored, damaged := settings.Load(path)
	if damaged == nil {
		damaged = writable(filepath.Dir(path))
	}
	tr := chooseLanguage(o.Lang, stored.Language)
	if err := lang.AddTranslationsForLocale(tr.Toolkit(), lang.SystemLocale()); err != nil {
		return fmt.Errorf("words of the dialogs: %w", err)
	}

	// The toolkit reads the scale from the environment when it starts.
	if scale := stored.InterfaceScale; scale > 0 && os.Getenv("FYNE_SCALE") == "" {
		if err := os.Setenv("FYNE_SCALE", strconv.FormatFloat(scale, 'g', -1, 64)); err != nil {
			return fmt.Errorf("size of the interface: %w", err)
		}
	}
	// The toolkit reads FyneApp.toml only beside the program. Without this promise it asks at every repainting of a
	// widget on which goroutine it runs, by a stack trace, which takes most of the time of a step through the findings.
	app.SetMetadata(fyne.AppMetadata{ID: appID, Name: "Blik", Migrations: map[string]bool{"fyneDo": true}})
	a := app.NewWithID(appID)
	dropStopHook(a)
	a.SetIcon(fyne.NewStaticResource("icon.png", assets.Icon()))
	adoptPreferences(a.Preferences(), &stored)
	queue, devices := post.NewPosts(), device.NewSwitch()
	if o.Watch != nil {
		o.Watch(queue.Post)
	}
	w := newWindow(a, config{
		texts: tr, version: o.Version, dialogs: prompt.SystemDialogs(), queue: o.Queue, crash: o.Crash,
		timing: o.Timing, observer: observer, exit: func() { os.Exit(0) }, later: queue.Later,
		session: session.Options{Settings: &stored, SettingsPath: path, Dispatch: queue.Post},
		store: store.Options{
			Files: files, Ahead: ahead, Thumbnails: thumbnails(), Version: o.Version,
			Journal: filepath.Join(filepath.Dir(path), "unsaved"),
		},
		engine: session.On(devices), device: devices, machine: device.List, card: picture.Card(),
	})
	w.openFirst(o)
	a.Lifecycle().SetOnStarted(func() { w.started(damaged) })
	a.Lifecycle().SetOnExitedForeground(w.focusLost)
	stop := context.AfterFunc(ctx, func() { queue.Post(w.close) })
	defer stop()
	w.win.ShowAndRun()
	return nil
}

// dropStopHook keeps the toolkit from saving its preferences when it stops, of which the program has none. It would run
// that on another goroutine while it closes the queue that it needs for that, and now and then panic or hang.
func dropStopHook(a fyne.App) {
	if l, ok := a.Lifecycle().(interface{ SetOnStoppedHookExecuted(hook func()) }); ok {
		l.SetOnStoppedHookExecuted(nil)
	}
}

// writable creates a folder and returns an error if it cannot be written. In that case it also silences the log,
// because the toolkit would log several lines for each of its own files beside the folder.
func writable(dir string) error {
	err := os.MkdirAll(dir, 0o700)
	var probe *os.File
	if err == nil {
		probe, err = os.CreateTemp(dir, "probe-*")
	}
	if err != nil {
		log.SetOutput(io.Discard)
		return message.Errorf("settings and unsaved work cannot be saved: the folder %s is not writable", dir)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// thumbnails returns the cache for thumbnails of recent files; nil if the system has no place for it.
func thumbnails() *thumbnail.Cache {
	cache, err := thumbnail.UserCache()
	if err != nil {
		return nil
	}
	return &cache
}

// adoptPreferences takes appearance and device from the toolkit's preferences, where older versions of the program
// stored them, unless the settings contain them.
func adoptPreferences(p fyne.Preferences, s *settings.Settings) {
	if s.Appearance == "" {
		s.Appearance = p.StringWithFallback("appearance", string(look.System))
	}
	if s.Device == "" {
		s.Device = p.StringWithFallback("device", deviceAuto)
	}
	if device.Check(s.Device) != nil {
		s.Device = deviceAuto
	}
}

// openFirst starts to open the files that the program was started with, while the window appears.
func (w *window) openFirst(o Options) {
	if len(o.Files) > 1 {
		w.c.frames.Add(o.Files)
	}
	if len(o.Files) == 0 {
		return
	}
	then := func() {}
	if o.Detect {
		then = w.c.treatment.detect
	}
	if info, err := os.Stat(o.Files[0]); err == nil && info.IsDir() {
		w.files.OpenAll(o.Files, then)
		return
	}
	w.files.OpenThen(o.Files[0], then)
}

// started runs when the window is on the screen. damaged is the error of the settings, if any.
func (w *window) started(damaged error) {
	if damaged != nil {
		w.k.prompts.ShowError("Problem with the settings", damaged)
	}
	w.k.changed(change{Zoom: true})
	w.c.devices.Open()
	w.k.prompts.OfferCrashLogs(w.app.Clipboard())
	w.recovery.offerUnsaved(endingTime)
}

// fileObserver returns an Observer that writes one line an event to a file; nil if path is empty.
func fileObserver(path string) (send Observer, close func(), err error) {
	if path == "" {
		return nil, func() {}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, nil, fmt.Errorf("log of the window: %w", err)
	}
	out := bufio.NewWriter(f)
	return func(format string, args ...any) {
		fmt.Fprintf(out, format+"\n", args...)
		out.Flush()
	}, func() { f.Close() }, nil
}

// chooseLanguage returns the first language that is named, or else the system's.
func chooseLanguage(wanted ...string) *i18n.Printer {
	return i18n.For(cmp.Or(append(wanted, lang.SystemLocale().LanguageString())...))
}
