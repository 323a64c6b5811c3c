package ui

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fyne.io/fyne/v2"

	"blik/app/i18n"
	"blik/app/settings"
)

// keySet is everything that runs an action; see the fields of action.
type keySet struct {
	shortcut fyne.Shortcut
	also     []fyne.Shortcut
	keys     string
	named    []fyne.KeyName
}

// inForce returns the current keys of an action; set replaces them.
func (a *action) inForce() keySet { return keySet{a.shortcut, a.also, a.keys, a.named} }

func (a *action) set(k keySet) {
	a.shortcut, a.also, a.keys, a.named = k.shortcut, k.also, k.keys, k.named
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

// shownNames are the names of keys whose driver name is not the usual one.
func shownNames() map[fyne.KeyName]fyne.KeyName {
	return map[fyne.KeyName]fyne.KeyName{fyne.KeyPageUp: "PageUp", fyne.KeyPageDown: "PageDown"}
}

// freeKeys are the keys without a character that an action may have. The others are needed by text fields, dialogs and
// polygons.
func freeKeys() []fyne.KeyName {
	return []fyne.KeyName{fyne.KeyF1, fyne.KeyF2, fyne.KeyF3, fyne.KeyF4, fyne.KeyF5, fyne.KeyF6, fyne.KeyF7,
		fyne.KeyF8, fyne.KeyF9, fyne.KeyF10, fyne.KeyF11, fyne.KeyF12, fyne.KeyDelete, fyne.KeyInsert,
		fyne.KeyHome, fyne.KeyEnd, fyne.KeyPageUp, fyne.KeyPageDown}
}

// parseKeys parses a combination as stored in settings: a character, a key of freeKeys, or either with Ctrl, Alt or
// Super, and Shift. Empty text means no key.
func parseKeys(text string) (k keySet, ok bool) {
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
		return keySet{}, true
	case mod == 0 && single:
		return keySet{keys: strings.ToLower(rest)}, true
	case mod == 0 && free:
		return keySet{named: []fyne.KeyName{fyne.KeyName(rest)}}, true
	case mod&^fyne.KeyModifierShift != 0 && (single && r < utf8.RuneSelf || free || rest == string(fyne.KeyReturn)):
		if single {
			rest = strings.ToUpper(rest)
		}
		return keySet{shortcut: shortcutOf(fyne.KeyName(rest), mod)}, true
	}
	return keySet{}, false
}

// shortcutOf returns the shortcut that the driver reports for a key with modifiers.
func shortcutOf(name fyne.KeyName, mod fyne.KeyModifier) fyne.Shortcut {
	if mod == ctrl {
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
	return key(name, mod)
}

// typing reports whether text fields need a shortcut.
func typing(s fyne.Shortcut) bool {
	switch s.(type) {
	case *fyne.ShortcutUndo, *fyne.ShortcutRedo, *fyne.ShortcutCopy, *fyne.ShortcutCut, *fyne.ShortcutPaste,
		*fyne.ShortcutSelectAll:
		return true
	}
	return false
}

// stored returns the keys of an action as settings store them; of several the first.
func (k keySet) stored() string {
	switch {
	case k.shortcut != nil:
		text := ""
		if s, ok := k.shortcut.(fyne.KeyboardShortcut); ok {
			for _, m := range modifiers() {
				if s.Mod()&m.mod != 0 {
					text += m.name
				}
			}
			text += string(s.Key())
		}
		return text
	case k.keys != "":
		r, _ := utf8.DecodeRuneInString(k.keys)
		return string(r)
	case len(k.named) > 0:
		return string(k.named[0])
	}
	return ""
}

// shortcutText returns a shortcut as it is shown; empty for nil.
func shortcutText(shortcut fyne.Shortcut) string {
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
	if name, ok := shownNames()[s.Key()]; ok {
		return text + string(name)
	}
	return text + string(s.Key())
}

// events lists what the driver reports for the keys, on every keyboard.
func (k keySet) events() (all []string) {
	for _, s := range append(slices.Clone(k.also), k.shortcut) {
		if s != nil {
			all = append(all, s.ShortcutName())
		}
	}
	for _, r := range k.keys {
		for _, l := range i18n.Languages() {
			all = append(all, "types "+string(i18n.For(l.Code).Local(r)))
		}
	}
	for _, name := range k.named {
		all = append(all, "key "+string(name))
	}
	return all
}

// holder returns the action other than id that has one of the keys.
func (a *actions) holder(id string, k keySet) (other string, held bool) {
	events := k.events()
	for _, other := range slices.Sorted(maps.Keys(a.table)) {
		if other == id {
			continue
		}
		for _, e := range a.table[other].inForce().events() {
			if slices.Contains(events, e) {
				return other, true
			}
		}
	}
	return "", false
}

// fits reports whether an action may have keys that no other has: the action that lasts while its key is held needs a
// character, and keys that text fields need are kept for their usual actions.
func (a *actions) fits(id string, k keySet) bool {
	if id == holdAction && k.keys == "" && len(k.events()) > 0 {
		return false
	}
	usual := a.table[id].usual.shortcut
	return k.shortcut == nil || !typing(k.shortcut) ||
		usual != nil && usual.ShortcutName() == k.shortcut.ShortcutName()
}

// use puts chosen keys into force. Entries with unknown actions, unreadable keys, or keys that another action has are
// ignored; those actions keep their usual keys.
func (a *actions) use(chosen settings.Keys) {
	sets := map[string]keySet{}
	for id, text := range chosen {
		known, ok := a.table[id]
		if !ok || known.name == "" {
			continue
		}
		if k, ok := parseKeys(text); ok && a.fits(id, k) {
			sets[id] = k
		}
	}
	for again := true; again; {
		again = false
		for id, known := range a.table {
			known.set(known.usual)
			if k, ok := sets[id]; ok {
				known.set(k)
			}
		}
		for _, id := range slices.Sorted(maps.Keys(sets)) {
			if _, held := a.holder(id, sets[id]); held {
				delete(sets, id)
				again = true
				break
			}
		}
	}
}

// typed returns the keys for a typed character, on any keyboard.
func typed(r rune) (keySet, bool) {
	r = unicode.ToLower(r)
	for _, l := range i18n.Languages() {
		if latin := i18n.For(l.Code).Latin(r); latin != r && r >= utf8.RuneSelf {
			return parseKeys(string(latin))
		}
	}
	return parseKeys(string(r))
}

// pressed returns the keys for a pressed shortcut.
func pressed(s fyne.Shortcut) (keySet, bool) {
	if s == nil {
		return keySet{}, false
	}
	return parseKeys(keySet{shortcut: s}.stored())
}
