package ui

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// greyed returns the IDs of actions whose menu items are greyed.
func (h *harness) greyed() (ids []string) {
	for i, entry := range menuTable() {
		for k, id := range entry.ids {
			if _, ok := h.k.actions.table[id]; ok && h.win.MainMenu().Items[i].Items[k].Disabled {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// Menu items that would do nothing are greyed, and no others.
func TestMenuGreysWhatDoesNothing(t *testing.T) {
	h := newHarness(t, "en")
	check := func(what string, greyed bool, ids ...string) {
		t.Helper()
		now := h.greyed()
		for _, id := range ids {
			if slices.Contains(now, id) != greyed {
				t.Errorf("%s: %s is greyed: %v", what, id, !greyed)
			}
		}
	}
	undo := []string{"edit.undo", "edit.redo"}
	mask := []string{"edit.clear", "edit.grow", "edit.shrink", "edit.fill"}
	list := []string{"find.next", "find.previous", "find.keepListed", "find.ignoreListed", "find.save", "find.copy",
		"correct.all"}
	chosen := []string{"find.remove", "correct.selected"}
	brush := []string{"brush.smaller", "brush.larger"}
	check("no picture", true, slices.Concat(undo, mask, list, chosen, brush, []string{"edit.history", "edit.copy"})...)
	h.opened()
	check("opened", true, slices.Concat(undo, mask, list, chosen)...)
	check("opened", false, "edit.history", "edit.copy", "edit.invert", "find.run", "file.saveMask")
	h.k.actions.do("edit.undo")
	if text := h.status.message.Text(); text != "Nothing to undo" {
		t.Errorf("the status bar says %q", text)
	}
	h.k.actions.do("find.run")
	h.settle()
	check("found", false, slices.Concat(undo[:1], mask, list)...)
	check("found", true, slices.Concat(undo[1:], chosen, []string{"correct.remove", "file.savePicture"})...)
	h.k.actions.do("find.next")
	check("selected", false, chosen...)
	h.k.actions.do("correct.selected")
	h.settle()
	check("corrected", false, "correct.remove", "file.savePicture", "file.savePictureAs")
	for range 2 {
		h.k.actions.do("edit.undo")
	}
	check("undone", true, slices.Concat(undo[:1], mask, list)...)
	check("undone", false, undo[1])
	h.k.actions.do("tool.brush")
	check("the brush is taken", false, brush...)
}

// Every menu fits in a window 700 pixels high, below the bar, so that none scrolls.
func TestMenusFit(t *testing.T) {
	const bar = 26
	for _, lang := range languages() {
		h := newHarness(t, lang).opened()
		for _, m := range h.win.MainMenu().Items {
			if height := widget.NewMenu(m).MinSize().Height; height > 700-bar {
				t.Errorf("%s: %s is %g high", lang, m.Label, height)
			}
		}
	}
}

// Everything in a menu or submenu is found in the list of all commands.
func TestCommandsOfSubmenus(t *testing.T) {
	h := newHarness(t, "en")
	var ids []string
	for _, c := range h.commands() {
		ids = append(ids, c.ID)
	}
	for _, id := range []string{viewMask, viewOutlines, viewChanged, viewNavigator} {
		if !slices.Contains(ids, id) {
			t.Errorf("%s is not listed", id)
		}
	}
}

// A key whose action cannot run says why.
func TestKeysSayWhyTheyDoNothing(t *testing.T) {
	h := newHarness(t, "en")
	says := func(key rune, want string) {
		t.Helper()
		h.k.say("")
		h.k.keys.Rune(key)
		if got := h.status.message.Text(); !strings.HasPrefix(got, want) {
			t.Errorf("%c says %q, want %q", key, got, want)
		}
	}
	says('n', "Open a picture (Ctrl+O)")
	h.opened()
	for _, key := range `cs\x` {
		says(key, "Nothing is corrected yet; F6")
	}
	h.k.say("")
	h.k.keys.Key(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if got := h.status.message.Text(); got != "" {
		t.Errorf("Escape says %q", got)
	}
	h.block.Store(true)
	h.k.actions.do("find.run")
	says('.', "Another task is still running")
	h.block.Store(false)
	h.c.session.Cancel()
	h.settle()
	h.k.actions.do("find.run")
	h.settle()
	h.k.actions.do("correct.all")
	h.settle()
	says('s', "")
	if !h.k.display.split {
		t.Error("the split line is not shown")
	}
}

var functionKey = regexp.MustCompile(`^F[0-9]+$`)

// The texts of menu items end with their keys, which stand in a column and are not drawn a second time. The driver
// still finds the shortcuts.
func TestMenuShowsKeys(t *testing.T) {
	for _, lang := range languages() {
		h := newHarness(t, lang)
		for i, entry := range menuTable() {
			var columns []float32
			for k, id := range entry.ids {
				item := h.win.MainMenu().Items[i].Items[k]
				want := id
				if a := h.k.actions.table[id]; a != nil {
					want = h.k.t(a.name)
				}
				at := strings.LastIndex(item.Label, "\t")
				if item.Shortcut == nil {
					if at >= 0 {
						t.Errorf("%s: %q has no keys", id, item.Label)
					}
					continue
				}
				if name, _, _ := strings.Cut(item.Label, "\t"); name != want || at < 0 || at+1 == len(item.Label) {
					t.Errorf("%s: the item says %q", id, item.Label)
				}
				if _, ok := item.Shortcut.(fyne.KeyboardShortcut); ok {
					t.Errorf("%s: the toolkit draws the keys", id)
				}
				if s := h.k.actions.table[id].shortcut; s != nil && s.ShortcutName() != item.Shortcut.ShortcutName() {
					t.Errorf("%s: the shortcut is %s", id, item.Shortcut.ShortcutName())
				}
				shown := item.Label[at+1:]
				if press := h.k.press(id); functionKey.MatchString(press) && shown != press {
					t.Errorf("%s: the menu shows %q, the texts name %s", id, shown, press)
				}
				if id == viewFit && shown != "Ctrl+0" {
					t.Errorf("%s: the menu shows %q", id, shown)
				}
				columns = append(columns, fyne.MeasureText(item.Label[:at+1], theme.TextSize(), fyne.TextStyle{}).Width)
			}
			if len(columns) > 0 && slices.Max(columns)-slices.Min(columns) > 0.5 {
				t.Errorf("%s: the keys begin at %v", entry.title, columns)
			}
		}
	}
}
