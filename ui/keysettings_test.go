package ui

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"blik/app/settings"
	"blik/internal/test/testpic"
	"blik/internal/test/uitest"
	"blik/ui/commands"
	"blik/ui/keyset"
	"blik/ui/xwidget"
)

// No two actions have the same default keys on any keyboard, and parsing their stored form returns the same keys.
func TestUsualKeys(t *testing.T) {
	h := newHarness(t, "en")
	for id, a := range h.k.actions.table {
		if other, held := h.k.actions.holder(id, a.usual); held {
			t.Errorf("%s and %s share keys", id, other)
		}
		k := a.usual
		if k.Shortcut == nil && (a.name == "" || k.Keys == "" && len(k.Named) == 0) {
			continue
		}
		again, ok := keyset.Parse(k.Stored())
		if !ok || again.Stored() != k.Stored() || !slices.Contains(k.Events(), again.Events()[0]) {
			t.Errorf("%s: %q is parsed as %+v, %v", id, k.Stored(), again, ok)
		}
	}
}

// Invalid combinations, and keys that text fields and dialogs need, are refused.
func TestKeysThatNothingMayHave(t *testing.T) {
	t.Parallel()
	for _, text := range []string{" ", "Escape", "Return", "KP_Enter", "BackSpace", "Tab", "Space", "Up", "Left", "gg",
		"Shift+G", "Shift+F5", "Ctrl+", "Ctrl+Left", "Ctrl+Home+", "Ctrl+ж", "Ctrl+Escape", "\x00", "\xff", "\n"} {
		if k, ok := keyset.Parse(text); ok {
			t.Errorf("%q is parsed as %+v", text, k)
		}
	}
	for text, want := range map[string]string{"": "", "B": "b", "+": "+", "Ctrl++": "Ctrl++", "F12": "F12",
		"Ctrl+Shift+g": "Ctrl+Shift+G", "Alt+Return": "Alt+Return", "Shift+Ctrl+G": ""} {
		k, ok := keyset.Parse(text)
		if got := k.Stored(); got != want || ok != (text != "Shift+Ctrl+G") {
			t.Errorf("%q is parsed as %q, %v", text, got, ok)
		}
	}
}

// Chosen keys replace the defaults; damaged entries, unknown actions and conflicts leave the defaults.
func TestChosenKeys(t *testing.T) {
	h := newHarness(t, "en")
	usual := func() map[string]keyset.Set {
		all := map[string]keyset.Set{}
		for id, a := range h.k.actions.table {
			all[id] = a.inForce()
		}
		return all
	}
	before := usual()
	for _, c := range []struct {
		chosen settings.Keys
		want   map[string]string
	}{
		{settings.Keys{"find.run": "Ctrl+Shift+G"}, map[string]string{"find.run": "Ctrl+Shift+G"}},
		{settings.Keys{"find.run": ""}, map[string]string{"find.run": ""}},
		{settings.Keys{"find.run": "F11", "correct.all": "F5"},
			map[string]string{"find.run": "F11", "correct.all": "F5"}},
		{settings.Keys{"correct.all": "F5"}, map[string]string{"correct.all": "F6", "find.run": "Ctrl+G, F5"}},
		{settings.Keys{"find.run": "F12", "correct.all": "F12"},
			map[string]string{"find.run": "F12", "correct.all": "F12"}},
		{settings.Keys{"no.such": "F11", "find.run": "Hyper+Q", "escape": "F12", "edit.invert": "Ctrl+C",
			"edit.clear": "Return", "view.source": "F11", "edit.fill": "ж"}, map[string]string{}},
	} {
		h.k.actions.use(c.chosen)
		after := usual()
		for id := range after {
			if other, held := h.k.actions.holder(id, after[id]); held {
				t.Errorf("%v: %s and %s share keys", c.chosen, id, other)
			}
			want, changed := c.want[id]
			if changed && h.k.keyText(id) != want && !(want == "F12" && reflect.DeepEqual(after[id], before[id])) {
				t.Errorf("%v: %s has %q", c.chosen, id, h.k.keyText(id))
			}
			if !changed && !reflect.DeepEqual(after[id], before[id]) {
				t.Errorf("%v: the keys of %s changed to %+v", c.chosen, id, after[id])
			}
		}
	}
	h.k.actions.use(nil)
	if !reflect.DeepEqual(usual(), before) {
		t.Error("the default keys were not restored")
	}
}

// Keys are chosen by pressing them, shown everywhere, and reset with one click.
func TestKeySettings(t *testing.T) {
	testpic.NoRace(t)
	for lang, words := range map[string][2]string{
		"en": {"“Correct all” already uses these keys", "Text fields"},
		"ru": {"Эти клавиши уже заняты: «Исправить всё»", "нужн"},
	} {
		h := newHarness(t, lang).opened()
		h.k.actions.do("edit.preferences")
		if !h.dialogOpen() {
			t.Fatal("the preferences are not shown")
		}
		k := h.newKeySettings()
		h.k.prompts.ShowCustom("", "", k, 500, 400)
		catcher, list := uitest.Find[*xwidget.KeyCatcher](k)[0], uitest.Find[*xwidget.List](k)[0]
		at := func(id string) int {
			return slices.IndexFunc(h.commands(), func(c commands.Command) bool { return c.ID == id })
		}
		says := func(part string) {
			t.Helper()
			if !strings.Contains(catcher.Text, part) {
				t.Errorf("%s: says %q, not %q", lang, catcher.Text, part)
			}
		}
		list.Select(at("find.run"))
		// The driver passes the menu's shortcuts to the menu.
		h.k.actions.do("correct.all")
		says(words[1])
		catcher.TypedKey(&fyne.KeyEvent{Name: fyne.KeyF6})
		says(words[0])
		catcher.TypedShortcut(&fyne.ShortcutPaste{})
		says(words[1])
		catcher.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
		says(words[1])
		catcher.TypedRune(' ')
		says(words[1])
		catcher.TypedKey(&fyne.KeyEvent{Name: "LeftControl"})
		if len(h.c.session.Settings().Keys) != 0 || h.k.keyText("find.run") != "Ctrl+G, F5" {
			t.Errorf("refused keys were accepted: %v", h.c.session.Settings().Keys)
		}
		catcher.TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyR, Modifier: ctrl})
		if want := (settings.Keys{"find.run": "Ctrl+R"}); !maps.Equal(h.c.session.Settings().Keys, want) || h.k.actions.catch != nil {
			t.Errorf("chosen: %v", h.c.session.Settings().Keys)
		}
		if got := h.k.tip("find.run"); !strings.HasSuffix(got, "(Ctrl+R)") {
			t.Errorf("the tip says %q", got)
		}
		found := ""
		for _, c := range h.commands() {
			if c.ID == "find.run" {
				found = c.Keys
			}
		}
		if found != "Ctrl+R" {
			t.Errorf("the list of commands says %q", found)
		}
		list.Select(at("correct.all"))
		catcher.TypedRune('Э')
		if h.c.session.Settings().Keys["correct.all"] != "'" {
			t.Errorf("a Russian letter gives %v", h.c.session.Settings().Keys)
		}
		for h.dialogOpen() {
			h.win.Canvas().Overlays().Remove(h.win.Canvas().Overlays().Top())
		}
		h.k.keys.Key(&fyne.KeyEvent{Name: fyne.KeyF5})
		h.settle()
		if h.c.session.Document().Result() != nil {
			t.Error("the previous key still runs the action")
		}
		h.setKeys(nil)
		h.k.keys.Key(&fyne.KeyEvent{Name: fyne.KeyF5})
		h.settle()
		if h.c.session.Document().Result() == nil {
			t.Error("the default key does not run the action")
		}
	}
}
