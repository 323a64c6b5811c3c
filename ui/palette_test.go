package ui

import (
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"blik/internal/test/testpic"
	"blik/internal/test/uitest"
	"blik/ui/commands"
)

// Every command is found by part of its name in the window's language; the arrow keys choose and Enter runs it.
func TestCommandPalette(t *testing.T) {
	testpic.NoRace(t)
	h := newHarness(t, "ru").opened()
	all := h.commands()
	if len(all) < 60 {
		t.Errorf("only %d commands listed", len(all))
	}
	for _, c := range all {
		found := commands.Matching(all, c.Name)
		if !slices.Contains(found, c) {
			t.Errorf("%q is not found by its name", c.Name)
		}
	}
	if n := len(commands.Matching(all, "нет такой команды")); n != 0 {
		t.Errorf("%d commands match nonsense", n)
	}
	h.k.actions.do(commandsAction)
	entry, ok := h.win.Canvas().Focused().(interface {
		TypedRune(rune)
		TypedKey(*fyne.KeyEvent)
	})
	if !ok {
		t.Fatal("the search field does not have the focus")
	}
	for _, r := range "найти блики" {
		entry.TypedRune(r)
	}
	entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyUp})
	entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	h.settle()
	if h.dialogOpen() || h.c.session.Document().Stats().Spots != 2 {
		t.Errorf("dialog %v, %d findings", h.dialogOpen(), h.c.session.Document().Stats().Spots)
	}
	h.k.actions.do(commandsAction)
	nothing := func() bool {
		labels := uitest.Find[*widget.Label](h.win.Canvas().Overlays().Top())
		return slices.ContainsFunc(labels, func(l *widget.Label) bool {
			return l.Visible() && l.Text == "Нет команды с такими словами в названии."
		})
	}
	if nothing() {
		t.Error("all commands are listed, and none is said to be found")
	}
	test.Type(h.win.Canvas().Focused(), "zzz")
	h.win.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if !h.dialogOpen() {
		t.Error("Enter without a match closed the list")
	}
	if !nothing() {
		t.Error("nothing says that no command was found")
	}
	h.win.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if h.dialogOpen() {
		t.Error("Escape does not close the list")
	}
}

// F1 shows the guide in the language of the window.
func TestGuideIsShown(t *testing.T) {
	testpic.NoRace(t)
	for lang, want := range map[string]string{"en": "Guide to the window", "ru": "Руководство по окну программы"} {
		h := newHarness(t, lang)
		h.k.keys.Key(&fyne.KeyEvent{Name: fyne.KeyF1})
		texts := uitest.Find[*widget.RichText](h.win.Canvas().Overlays().Top())
		if len(texts) == 0 || !strings.Contains(texts[0].String(), want) {
			t.Errorf("%s: F1 shows no guide", lang)
		}
		h.k.keys.Key(&fyne.KeyEvent{Name: fyne.KeyEscape})
		if h.dialogOpen() {
			t.Error("Escape does not close the guide")
		}
	}
}
