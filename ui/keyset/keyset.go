// Package keyset reads, stores and names the keys that run actions.
package keyset

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"blik/app/i18n"
)

// Set is everything that runs an action: a shortcut, others that run it too but are not shown, characters, and keys
// without one.
type Set struct {
	Shortcut fyne.Shortcut
	Also     []fyne.Shortcut
	Keys     string
	Named    []fyne.KeyName
}

// modifiers are the modifier keys, as written in settings and as shown.
func modifiers() []struct {
	mod         fyne.KeyModifier
	name, shown string
} {
	return []struct {
		mod         fyne.KeyModifier
		name, shown string
	}{
		{fyne.KeyModifierControl, "Ctrl+", "Ctrl+"}, {fyne.KeyModifierAlt, "Alt+", "Alt+"},
		{fyne.KeyModifierSuper, "Super+", "⌘"}, {fyne.KeyModifierShift, "Shift+", "Shift+"},
	}
}

// ShownNames are the names of keys whose driver name is not the usual one.
func ShownNames() map[fyne.KeyName]fyne.KeyName {
	return map[fyne.KeyName]fyne.KeyName{fyne.KeyPageUp: "PageUp", fyne.KeyPageDown: "PageDown"}
}

// freeKeys are the keys without a character that an action may have. The others are needed by text fields, dialogs and
// polygons.
func freeKeys() []fyne.KeyName {
	return []fyne.KeyName{fyne.KeyF1, fyne.KeyF2, fyne.KeyF3, fyne.KeyF4, fyne.KeyF5, fyne.KeyF6, fyne.KeyF7,
		fyne.KeyF8, fyne.KeyF9, fyne.KeyF10, fyne.KeyF11, fyne.KeyF12, fyne.KeyDelete, fyne.KeyInsert,
		fyne.KeyHome, fyne.KeyEnd, fyne.KeyPageUp, fyne.KeyPageDown}
}

// Parse parses a combination as stored in settings: a character, a key of freeKeys, or either with Ctrl, Alt or
// Super, and Shift. Empty text means no key.
func Parse(text string) (k Set, ok bool) {
	mod, rest := fyne.KeyModifier(0), text
	for _, m := range modifiers() {
		if cut, found := strings.CutPrefix(rest, m.name); found && cut != "" {
			mod, rest = mod|m.mod, cut
		}
	}
	r, n := utf8.DecodeRuneInString(rest)
	single := n == len(rest) && unicode.IsGraphic(r) && !unicode.IsSpace(r) && r != utf8.RuneError
	free := slices.Contains(freeKeys(), fyne.KeyName(rest))
	switch {
	case text == "":
		return Set{}, true
	case mod == 0 && single:
		return Set{Keys: strings.ToLower(rest)}, true
	case mod == 0 && free:
		return Set{Named: []fyne.KeyName{fyne.KeyName(rest)}}, true
	case mod&^fyne.KeyModifierShift != 0 && (single && r < utf8.RuneSelf || free || rest == string(fyne.KeyReturn)):
		if single {
			rest = strings.ToUpper(rest)
		}
		return Set{Shortcut: shortcutOf(fyne.KeyName(rest), mod)}, true
	}
	return Set{}, false
}

// shortcutOf returns the shortcut that the driver reports for a key with modifiers.
func shortcutOf(name fyne.KeyName, mod fyne.KeyModifier) fyne.Shortcut {
	if mod == fyne.KeyModifierShortcutDefault {
		switch name {
		case fyne.KeyZ:
			return &fyne.ShortcutUndo{}
		case fyne.KeyY:
			return &fyne.ShortcutRedo{}
		case fyne.KeyC, fyne.KeyInsert:
			return &fyne.ShortcutCopy{}
		case fyne.KeyX:
			return &fyne.ShortcutCut{}
		case fyne.KeyV:
			return &fyne.ShortcutPaste{}
		case fyne.KeyA:
			return &fyne.ShortcutSelectAll{}
		}
	}
	return &desktop.CustomShortcut{KeyName: name, Modifier: mod}
}

// Typing reports whether text fields need a shortcut.
func Typing(s fyne.Shortcut) bool {
	switch s.(type) {
	case *fyne.ShortcutUndo, *fyne.ShortcutRedo, *fyne.ShortcutCopy, *fyne.ShortcutCut, *fyne.ShortcutPaste,
		*fyne.ShortcutSelectAll:
		return true
	}
	return false
}

// Stored returns the keys of an action as settings store them; of several the first.
func (k Set) Stored() string {
	switch {
	case k.Shortcut != nil:
		text := ""
		if s, ok := k.Shortcut.(fyne.KeyboardShortcut); ok {
			for _, m := range modifiers() {
				if s.Mod()&m.mod != 0 {
					text += m.name
				}
			}
			text += string(s.Key())
		}
		return text
	case k.Keys != "":
		r, _ := utf8.DecodeRuneInString(k.Keys)
		return string(r)
	case len(k.Named) > 0:
		return string(k.Named[0])
	}
	return ""
}

// Text returns a shortcut as it is shown; empty for nil.
func Text(shortcut fyne.Shortcut) string {
	s, ok := shortcut.(fyne.KeyboardShortcut)
	if !ok {
		return ""
	}
	text := ""
	for _, m := range modifiers() {
		if s.Mod()&m.mod != 0 {
			text += m.shown
		}
	}
	if name, ok := ShownNames()[s.Key()]; ok {
		return text + string(name)
	}
	return text + string(s.Key())
}

// Events lists what the driver reports for the keys, on every keyboard.
func (k Set) Events() (all []string) {
	for _, s := range append(slices.Clone(k.Also), k.Shortcut) {
		if s != nil {
			all = append(all, s.ShortcutName())
		}
	}
	for _, r := range k.Keys {
		for _, l := range i18n.Languages() {
			all = append(all, "types "+string(i18n.For(l.Code).Local(r)))
		}
	}
	for _, name := range k.Named {
		all = append(all, "key "+string(name))
	}
	return all
}

// Typed returns the keys for a typed character, on any keyboard.
func Typed(r rune) (Set, bool) {
	r = unicode.ToLower(r)
	for _, l := range i18n.Languages() {
		if latin := i18n.For(l.Code).Latin(r); latin != r && r >= utf8.RuneSelf {
			return Parse(string(latin))
		}
	}
	return Parse(string(r))
}

// Pressed returns the keys for a pressed shortcut.
func Pressed(s fyne.Shortcut) (Set, bool) {
	if s == nil {
		return Set{}, false
	}
	return Parse(Set{Shortcut: s}.Stored())
}
