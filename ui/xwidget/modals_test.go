package xwidget

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
)

func TestModals(t *testing.T) {
	test.NewTempApp(t)
	w := test.NewTempWindow(t, widget.NewLabel("under"))
	m := NewModals(w)
	if m.Key(fyne.KeyEscape) || m.Key(fyne.KeyReturn) {
		t.Error("keys were used without a dialog")
	}
	said := ""
	confirm := func(text string) {
		d := dialog.NewConfirm("title", text, func(ok bool) {
			if ok {
				said += text
			} else {
				said += "-"
			}
		}, w)
		m.Show(d, d.Confirm)
	}
	confirm("a")
	if m.Key(fyne.KeyF5) || !m.Key(fyne.KeyReturn) {
		t.Error("Enter does not answer, or another key does")
	}
	confirm("b")
	if !m.Key(fyne.KeyEscape) || m.Key(fyne.KeyEscape) {
		t.Error("Escape does not close a dialog once")
	}
	if said != "a-" {
		t.Errorf("answers %q", said)
	}

	// A menu over a dialog has its own keys; a dialog opened by another one is on top.
	d := dialog.NewCustom("first", "close", widget.NewLabel(""), w)
	d.SetOnClosed(func() { confirm("c") })
	m.Show(d, nil)
	menu := widget.NewPopUp(widget.NewLabel("menu"), w.Canvas())
	menu.Show()
	if m.Key(fyne.KeyReturn) {
		t.Error("a key for the menu answered the dialog under it")
	}
	menu.Hide()
	m.Key(fyne.KeyReturn)
	m.Key(fyne.KeyEnter)
	if said != "a-c" || w.Canvas().Overlays().Top() != nil {
		t.Errorf("answers %q", said)
	}
}

// With two dialogs, such as an error over a question, keys answer the top one first, then the one under it.
func TestTwoDialogs(t *testing.T) {
	test.NewTempApp(t)
	w := test.NewTempWindow(t, widget.NewLabel("under"))
	m := NewModals(w)
	said := ""
	ask := func(text string) *dialog.ConfirmDialog {
		d := dialog.NewConfirm("title", text, func(ok bool) {
			if ok {
				said += text
			} else {
				said += "-" + text
			}
		}, w)
		m.Show(d, d.Confirm)
		return d
	}
	ask("a")
	ask("b")
	m.Key(fyne.KeyEscape)
	if said != "-b" || len(w.Canvas().Overlays().List()) != 1 {
		t.Fatalf("answers %q, %d dialogs are open", said, len(w.Canvas().Overlays().List()))
	}
	m.Key(fyne.KeyReturn)
	if said != "-ba" || m.Key(fyne.KeyReturn) || w.Canvas().Overlays().Top() != nil {
		t.Errorf("answers %q", said)
	}
	// The program closes the one under the other, and the toolkit removes the other as well.
	under := ask("c")
	ask("d")
	under.Hide()
	if m.Key(fyne.KeyReturn) || said != "-ba-c" {
		t.Errorf("answers %q", said)
	}
	ask("e")
	if !m.Key(fyne.KeyReturn) || said != "-ba-ce" {
		t.Errorf("answers %q", said)
	}
}
