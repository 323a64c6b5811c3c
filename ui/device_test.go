package ui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"blik/app/compute"
	"blik/app/device"
	"blik/processing"
	"blik/ui/xwidget"
)

// fakeDevice is open, and does nothing.
type fakeDevice struct {
	name string
	why  error
}

func (d fakeDevice) Run(ctx context.Context, _ int, job func(context.Context, processing.Backend) error) (*processing.Text, error) {
	return nil, job(ctx, nil)
}
func (d fakeDevice) Name() string { return d.name }
func (d fakeDevice) Why() error   { return d.why }
func (d fakeDevice) Close() error { return nil }

// openDevice opens one of the harness's GPUs; auto is the first of them, or the CPU.
func (h *harness) openDevice(_ context.Context, name string) (compute.Runner, error) {
	h.tried <- name
	if h.held != nil {
		<-h.held
	}
	switch {
	case name == deviceCPU:
		return fakeDevice{name: deviceCPU}, nil
	case name == deviceAuto && len(h.gpus) == 0:
		return fakeDevice{deviceCPU, errors.New("none is there")}, nil
	case name == deviceAuto:
		return fakeDevice{name: h.gpus[0].Name}, nil
	}
	for _, d := range h.gpus {
		if d.Name == name {
			return fakeDevice{name: name}, nil
		}
	}
	return nil, errors.New("it was taken out")
}

// drain runs what is queued until the window knows its devices and has opened the one it wants.
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

// deviceShown is the mark in the status bar.
func (h *harness) deviceShown() *xwidget.HelpLabel {
	return h.status.device.Objects[0].(*xwidget.HelpLabel)
}

// deviceChoices are the items of the menu of devices; the one with the tick has a star.
func (h *harness) deviceChoices() (list []string) {
	for _, i := range h.deviceItem().ChildMenu.Items {
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
	h.held = make(chan struct{})
	h.openDevices()
	if h.deviceShown().Text() != "…" {
		t.Errorf("while it opens the status bar says %q", h.deviceShown().Text())
	}
	close(h.held)
	h.drain(func() bool { return len(h.found) == 2 && h.deviceShown().Text() == "GPU" })
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
	if got := wantedDevice(h.app.Preferences()); got != "cpu" {
		t.Errorf("remembered is %q", got)
	}
	if a, b := <-h.tried, <-h.tried; a != "auto" || b != "cpu" {
		t.Errorf("opened were %s and %s", a, b)
	}
}

// A GPU that is not there any more leaves the work to the CPU, and the choice to the user.
func TestDeviceThatIsGone(t *testing.T) {
	h := newHarness(t, "ru")
	h.wanted = "cuda:1"
	h.openDevices()
	h.drain(func() bool { return len(h.found) == 1 && h.deviceShown().Text() == "ЦП" })
	if help := h.deviceShown().Help(); !strings.Contains(help, "it was taken out") {
		t.Errorf("help %q", help)
	}
	if got := strings.Join(h.deviceChoices(), ", "); got != "Автоматически, ЦП, *cuda:1" {
		t.Errorf("the menu offers %s", got)
	}
}

func TestDevicesOfOneNameAreNumbered(t *testing.T) {
	h := newHarness(t, "en")
	h.found = []device.Device{{Name: "cpu"}, {Name: "cuda:0", Title: "Abacus", Memory: 1}, {Name: "cuda:1", Title: "Abacus", Memory: 1}}
	if got := strings.Join(h.deviceChoices(), ", "); got != "*Automatic, CPU, Abacus (cuda:0), Abacus (cuda:1)" {
		t.Errorf("the menu offers %s", got)
	}
}

func TestWantedDeviceOfDamagedPreferences(t *testing.T) {
	a := test.NewTempApp(t)
	a.Preferences().SetString(preferenceDevice, "toaster")
	if got := wantedDevice(a.Preferences()); got != deviceAuto {
		t.Errorf("%q", got)
	}
}

// The status line says on what work ran, how long, and what became of the device, without a dialog.
func TestNoticeOfADevice(t *testing.T) {
	h := newHarness(t, "ru").opened()
	h.notice = &processing.Text{EN: "It fell.", RU: "Она упала."}
	for _, c := range []struct{ do, want string }{{"find.run", "Найден"}, {"correct.all", "Исправлен"}} {
		h.do(c.do)
		h.settle()
		got := h.status.message.Text()
		if !strings.HasPrefix(got, c.want) || !strings.HasSuffix(got, ". Она упала.") || !strings.Contains(got, "мс") || h.dialogOpen() {
			t.Errorf("%s: %q, dialog %q", c.do, got, h.dialogTexts())
		}
	}
}

func TestDuration(t *testing.T) {
	h := newHarness(t, "en")
	for d, want := range map[time.Duration]string{0: "0 ms", 84 * time.Millisecond: "84 ms", 1250 * time.Millisecond: "1.25 s", 12340 * time.Millisecond: "12.3 s"} {
		if got := h.duration(d); got != want {
			t.Errorf("%v: %q, expected %q", d, got, want)
		}
	}
}

func TestTimingHasAKey(t *testing.T) {
	h := newHarness(t, "en")
	if got := h.keyText("view.timing"); got != "F8" {
		t.Errorf("key %q", got)
	}
}
