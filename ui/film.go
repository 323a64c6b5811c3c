package ui

import "blik/ui/filmstrip"

// filmPart is the filmstrip as a part of the window.
type filmPart struct{ *filmstrip.Strip }

func newFilmPart(c *common, open func(path string)) filmPart {
	return filmPart{filmstrip.New(filmstrip.Options{
		Texts: c.k.texts, Tips: c.k.tips, Keys: c.k.keys, Session: c.session, Frames: c.frames,
		Open: open, ErrorText: c.k.prompts.ErrorText,
	})}
}

func (p filmPart) update(c change) {
	if c.Film || c.Document {
		p.Update(c.Document)
	}
}
