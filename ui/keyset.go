package ui

import (
	"maps"
	"slices"

	"blik/app/settings"
	"blik/ui/keyset"
)

// inForce returns the current keys of an action; set replaces them.
func (a *action) inForce() keyset.Set {
	return keyset.Set{Shortcut: a.shortcut, Also: a.also, Keys: a.keys, Named: a.named}
}

func (a *action) set(k keyset.Set) {
	a.shortcut, a.also, a.keys, a.named = k.Shortcut, k.Also, k.Keys, k.Named
}

// holder returns the action other than id that has one of the keys.
func (a *actions) holder(id string, k keyset.Set) (other string, held bool) {
	events := k.Events()
	for _, other := range slices.Sorted(maps.Keys(a.table)) {
		if other == id {
			continue
		}
		for _, e := range a.table[other].inForce().Events() {
			if slices.Contains(events, e) {
				return other, true
			}
		}
	}
	return "", false
}

// fits reports whether an action may have keys that no other has: the action that lasts while its key is held needs a
// character, and keys that text fields need are kept for their usual actions.
func (a *actions) fits(id string, k keyset.Set) bool {
	if id == holdAction && k.Keys == "" && len(k.Events()) > 0 {
		return false
	}
	usual := a.table[id].usual.Shortcut
	return k.Shortcut == nil || !keyset.Typing(k.Shortcut) ||
		usual != nil && usual.ShortcutName() == k.Shortcut.ShortcutName()
}

// use puts chosen keys into force. Entries with unknown actions, unreadable keys, or keys that another action has are
// ignored; those actions keep their usual keys.
func (a *actions) use(chosen settings.Keys) {
	sets := map[string]keyset.Set{}
	for id, text := range chosen {
		known, ok := a.table[id]
		if !ok || known.name == "" {
			continue
		}
		if k, ok := keyset.Parse(text); ok && a.fits(id, k) {
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
