package ui

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"

	"blik/app/device"
	"blik/processing"
	"blik/ui/xwidget"
)

// The names of the choices that are always there.
const (
	deviceAuto = "auto"
	deviceCPU  = "cpu"
)

// wantedDevice is the name of the device that was chosen last, if it is one that can be opened.
func wantedDevice(p fyne.Preferences) string {
	name := p.StringWithFallback(preferenceDevice, deviceAuto)
	if device.Check(name) != nil {
		return deviceAuto
	}
	return name
}

// openDevices begins to open the chosen device and to look for all others.
func (w *window) openDevices() {
	w.slot.Choose(w.wanted, w.deviceOpened)
	w.refreshDevice()
	go func() {
		// Why there is no GPU, if there is none, is told where a device is used or chosen.
		found, _ := w.devices()
		w.dispatch(func() {
			w.found = found
			w.refreshDevice()
			w.refreshMenu()
		})
	}()
}

func (w *window) deviceOpened() {
	w.dispatch(func() {
		w.refreshDevice()
		w.log.line("device %s", w.slot.State().Runs)
	})
}

// setDevice makes a device the one of the next work.
func (w *window) setDevice(name string) {
	w.wanted = name
	w.app.Preferences().SetString(preferenceDevice, name)
	w.slot.Choose(name, func() {
		w.deviceOpened()
		w.dispatch(func() {
			if w.wanted == name {
				w.say(w.deviceHelp())
			}
		})
	})
	w.refreshDevice()
	w.refreshMenu()
}

// deviceTitle is what a device is called: a GPU by its maker's name, with its number where there are several.
func (w *window) deviceTitle(name string) string {
	if name == deviceCPU {
		return w.t("device.cpu")
	}
	gpus, title := 0, ""
	for _, d := range w.found {
		if d.Memory > 0 {
			gpus++
		}
		if d.Name == name {
			title = d.Title
		}
	}
	switch {
	case title == "":
		return name
	case gpus > 1:
		return title + " (" + name + ")"
	}
	return title
}

// ran says how long work took, and on what.
func (w *window) ran(took time.Duration, name string) string {
	return w.t("status.ran", "Time", w.duration(took), "Device", w.deviceTitle(name))
}

// duration writes a time with two or three digits.
func (w *window) duration(d time.Duration) string {
	if d < time.Second {
		return w.t("time.ms", "N", w.texts.Number(float64(d.Milliseconds()), 0))
	}
	decimals := 1
	if d < 10*time.Second {
		decimals = 2
	}
	return w.t("time.s", "N", w.texts.Number(d.Seconds(), decimals))
}

// noticeText is what a job's device had to say, if anything, to follow another sentence.
func (w *window) noticeText(notice *processing.Text) string {
	if notice == nil {
		return ""
	}
	return ". " + notice.In(w.texts.Lang())
}

// deviceHelp says what the work runs on, and where that is not what was chosen, why.
func (w *window) deviceHelp() string {
	s := w.slot.State()
	if s.Opening {
		return w.t("device.opening")
	}
	text := w.t("device.runs", "Device", w.deviceTitle(s.Runs))
	if s.Why != nil {
		text += " " + device.Explain(s.Why).In(w.texts.Lang())
	}
	return text
}

// refreshDevice shows in the status bar what the work runs on.
func (w *window) refreshDevice() {
	short := w.t("device.gpu")
	switch s := w.slot.State(); {
	case s.Opening:
		short = "…"
	case s.Runs == deviceCPU:
		short = w.t("device.cpu")
	}
	help := w.deviceHelp() + " " + w.t("device.where")
	box := w.status.device
	if len(box.Objects) == 1 {
		if l := box.Objects[0].(*xwidget.HelpLabel); l.Text() == short && l.Help() == help {
			return
		}
	}
	box.Objects = []fyne.CanvasObject{xwidget.NewHelpLabel(short, help, w.tips)}
	w.status.object.Refresh()
}

// deviceItem lists what the work can run on.
func (w *window) deviceItem() *fyne.MenuItem {
	item := fyne.NewMenuItem(w.t("menu.device"), nil)
	names := []string{deviceAuto, deviceCPU}
	for _, d := range w.found {
		if !slices.Contains(names, d.Name) {
			names = append(names, d.Name)
		}
	}
	// A device that was chosen and is not there any more stays in the list, so that the choice is seen.
	if !slices.Contains(names, w.wanted) {
		names = append(names, w.wanted)
	}
	var all []*fyne.MenuItem
	for _, name := range names {
		title := w.t("device.auto")
		if name != deviceAuto {
			title = w.deviceTitle(name)
		}
		i := fyne.NewMenuItem(title, func() { w.setDevice(name) })
		i.Checked = name == w.wanted
		all = append(all, i)
	}
	item.ChildMenu = fyne.NewMenu("", all...)
	return item
}
