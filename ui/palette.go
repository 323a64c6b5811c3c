package ui

import (
	"fyne.io/fyne/v2"

	"blik/app/settings"
	"blik/ui/commands"
	"blik/ui/keyset"
)

// commands lists all named actions in the order of the menus.
func (w *window) commands() (all []commands.Command) {
	for _, m := range menuTable() {
		for _, id := range m.all() {
			if a := w.k.actions.table[id]; a != nil && a.name != "" && id != commandsAction {
				all = append(all, commands.Command{
					ID: id, Name: w.k.name(id), Keys: w.k.keyText(id), Menu: w.k.t(m.title),
					Ready: w.k.actions.offers(id),
				})
			}
		}
	}
	return all
}

// showCommands shows the list of all commands.
func (w *window) showCommands() {
	commands.Show(w.commands(), w.k.texts, w.k.prompts, w.k.actions.do)
}

// newKeySettings makes the list of actions with their keys.
func (w *window) newKeySettings() fyne.CanvasObject {
	return commands.NewKeys(commands.KeyOptions{
		All: append(w.commands(), commands.Command{
			ID: commandsAction, Name: w.k.name(commandsAction), Menu: w.k.t("Help"),
		}),
		Texts: w.k.texts, Keys: w.k.keys, Canvas: w.win.Canvas(), Shown: w.k.keyText, Refusal: w.refusal,
		Chosen: func() settings.Keys { return w.c.session.Settings().Keys }, Use: w.setKeys,
		Catch: func(catch func(fyne.Shortcut)) { w.k.actions.catch = catch },
	})
}

// refusal returns why an action cannot have keys; it is empty if it can. ok is false for keys that no action may have.
func (w *window) refusal(id string, k keyset.Set, ok bool) string {
	other, held := w.k.actions.holder(id, k)
	switch {
	case !ok:
		return w.k.t("Text fields, dialogs and tools need this key.")
	case held:
		return w.k.t("“%s” already uses these keys.", w.k.name(other))
	case w.k.actions.fits(id, k):
		return ""
	case id == holdAction:
		return w.k.t("“%s” lasts only while its key is held, so it needs a letter or a symbol.", w.k.name(id))
	}
	return w.k.t("Text fields need these keys.")
}

// setKeys puts keys into force and shows them everywhere; nil restores the usual ones.
func (w *window) setKeys(chosen settings.Keys) {
	w.c.session.Settings().Keys = chosen
	w.board.use(chosen)
	w.build()
}
