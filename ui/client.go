package ui

import "blik/ui/client"

// clientPart is the window of the client as a part of the window.
type clientPart struct{ *client.Window }

func (p clientPart) update(c change) {
	switch {
	case c.Document || c.Corrections:
		p.ShowPicture()
	case c.Zoom:
		p.Follow()
	}
}

// toggleClient opens or closes the window with the result.
func (w *window) toggleClient() {
	w.client.Toggle(w.k.t("Result") + " – " + programName)
	w.k.changed(change{View: true})
}
