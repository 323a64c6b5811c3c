package ui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"blik/app/device"
	"blik/app/settings"
	"blik/internal/message"
	"blik/ui/xwidget"
)

// fakeDevice is the Device of a session. If held is not nil, opening waits until it is closed. It does nothing else.
type fakeDevice struct {
	mu    sync.Mutex
	state device.State
	held  chan struct{}
	// runs maps chosen names to the devices they run on; one that is missing cannot be opened.
	runs  map[string]string
	tried []string
}

func (d *fakeDevice) Choose(name string, opened func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tried = append(d.tried, name)
	d.state = device.State{Opening: true, Runs: deviceCPU}
	go func() {
		if d.held != nil {
			<-d.held
		}
		d.mu.Lock()
		d.state = device.State{Runs: d.runs[name]}
		if d.state.Runs == "" {
			d.state.Runs, d.state.Reason = deviceCPU, errors.New("it was taken out")
		}
		d.mu.Unlock()
		opened()
	}()
}

func (d *fakeDevice) State() device.State {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state
}

func (d *fakeDevice) Run(ctx context.Context, _ int, job device.Job) (*message.Message, error) {
	return nil, job(ctx, nil)
}

func (d *fakeDevice) Close(context.Context) error { return nil }

// drain runs queued callbacks until the window knows its devices and has opened the chosen one.
func (h *harness) drain(done func() bool) {
	h.tb.Helper()
	for timeout := time.After(time.Minute); !done(); {
		select {
		case f := <-h.queue:
			f()
		case <-timeout:
			h.tb.Fatal("it does not come to an end")
		}
	}
}

// deviceShown returns the device in the status bar.
func (h *harness) deviceShown() *xwidget.HelpLabel {
	return h.status.device.Objects[0].(*xwidget.HelpLabel)
}

// deviceChoices returns the items of the device menu; a star marks the ticked one.
func (h *harness) deviceChoices() (list []string) {
	for _, i := range h.menu.deviceItems() {
		if i.Checked {
			list = append(list, "*"+i.Label)
		} else {
			list = append(list, i.Label)
		}
	}
	return list
}

func TestDeviceIsChosenAndRemembered(t *testing.T) {
	h := newHarness(t, "en")
	h.gpus = []device.Device{{Name: "cuda:0", Title: "Abacus 9", Memory: 1}}
	h.runs = map[string]string{"auto": "cuda:0", "cpu": "cpu"}
	h.held = make(chan struct{})
	h.c.devices.Open()
	if h.deviceShown().Text() != "…" {
		t.Errorf("while the device opens, the status bar says %q", h.deviceShown().Text())
	}
	close(h.held)
	h.drain(func() bool { return len(h.c.devices.All()) == 2 && h.deviceShown().Text() == "GPU" })
	if got := strings.Join(h.deviceChoices(), ", "); got != "*Automatic, CPU, Abacus 9" {
		t.Errorf("the menu offers %s", got)
	}
	if help := h.deviceShown().Help(); !strings.Contains(help, "Abacus 9") {
		t.Errorf("help %q", help)
	}
	h.setDevice("cpu")
	h.drain(func() bool {
		return h.deviceShown().Text() == "CPU" && strings.Contains(h.status.message.Text(), "CPU")
	})
	if got := strings.Join(h.deviceChoices(), ", "); got != "Automatic, *CPU, Abacus 9" {
		t.Errorf("the menu offers %s", got)
	}
	if got := h.c.session.Settings().Device; got != "cpu" {
		t.Errorf("stored choice %q", got)
	}
	if !slices.Equal(h.tried, []string{"auto", "cpu"}) {
		t.Errorf("opened %v", h.tried)
	}
}

// If a GPU has disappeared, the work runs on the CPU and the choice stays.
func TestDeviceThatIsGone(t *testing.T) {
	h := newHarness(t, "ru")
	h.c.session.Settings().Device = "cuda:1"
	h.c.devices.Open()
	h.drain(func() bool { return len(h.c.devices.All()) == 1 && h.deviceShown().Text() == "ЦП" })
	if help := h.deviceShown().Help(); !strings.Contains(help, "it was taken out") {
		t.Errorf("help %q", help)
	}
	if got := strings.Join(h.deviceChoices(), ", "); got != "Автоматически, ЦП, *cuda:1" {
		t.Errorf("the menu offers %s", got)
	}
}

func TestDevicesOfOneNameAreNumbered(t *testing.T) {
	h := newHarness(t, "en")
	h.gpus = []device.Device{{Name: "cuda:0", Title: "Abacus", Memory: 1}, {Name: "cuda:1", Title: "Abacus", Memory: 1}}
	h.c.devices.Open()
	h.drain(func() bool { return len(h.c.devices.All()) == 3 })
	if got := strings.Join(h.deviceChoices(), ", "); got != "*Automatic, CPU, Abacus (cuda:0), Abacus (cuda:1)" {
		t.Errorf("the menu offers %s", got)
	}
}

// Older versions kept two settings in the toolkit's preferences.
func TestPreferencesOfOlderVersions(t *testing.T) {
	p := test.NewTempApp(t).Preferences()
	var s settings.Settings
	if adoptPreferences(p, &s); s.Device != deviceAuto || s.Appearance != "system" {
		t.Errorf("no preferences: %+v", s)
	}
	p.SetString("device", "cuda:1")
	p.SetString("appearance", "neutral")
	s = settings.Settings{}
	if adoptPreferences(p, &s); s.Device != "cuda:1" || s.Appearance != "neutral" {
		t.Errorf("adopted %+v", s)
	}
	s = settings.Settings{Device: "cpu", Appearance: "dark"}
	if adoptPreferences(p, &s); s.Device != "cpu" || s.Appearance != "dark" {
		t.Errorf("settings were overwritten: %+v", s)
	}
	p.SetString("device", "toaster")
	s = settings.Settings{}
	if adoptPreferences(p, &s); s.Device != deviceAuto {
		t.Errorf("damaged: %+v", s)
	}
}

// The status bar states the device, the time, and any notice of the device, without a dialog.
func TestNoticeOfADevice(t *testing.T) {
	h := newHarness(t, "ru").opened()
	h.notice = new(message.Of("The GPU does not respond"))
	for _, c := range []struct{ do, want string }{{"find.run", "Найден"}, {"correct.all", "Исправлен"}} {
		h.k.actions.do(c.do)
		h.settle()
		got := h.status.message.Text()
		if !strings.HasPrefix(got, c.want) || !strings.HasSuffix(got, ". Видеокарта не отвечает") ||
			!strings.Contains(got, "мс") || h.dialogOpen() {
			t.Errorf("%s: %q, dialog %q", c.do, got, h.dialogTexts())
		}
	}
}

func TestDuration(t *testing.T) {
	h := newHarness(t, "en")
	for d, want := range map[time.Duration]string{0: "0 ms", 84 * time.Millisecond: "84 ms",
		1250 * time.Millisecond: "1.25 s", 12340 * time.Millisecond: "12.3 s"} {
		if got := h.k.words.Duration(d); got != want {
			t.Errorf("%v: %q, expected %q", d, got, want)
		}
	}
}

func TestTimingHasAKey(t *testing.T) {
	h := newHarness(t, "en")
	if got := h.k.keyText("view.timing"); got != "F8" {
		t.Errorf("key %q", got)
	}
}
