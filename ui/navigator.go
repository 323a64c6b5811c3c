package ui

import (
	"blik/app/session"
	"blik/app/view"
	"blik/ui/aids"
	"blik/ui/xwidget"
)

// navigator shows an overview of the whole picture with a frame around the visible part, which can be pressed and
// dragged.
type navigator struct {
	k        *kit
	session  *session.Session
	card     *aids.Card
	overview *aids.Overview
}

func newNavigator(c *common) *navigator {
	n := &navigator{k: c.k, session: c.session, overview: aids.NewOverview(c.k.display.port.CentreOn)}
	title := xwidget.NewFixedText("")
	title.Stretch, title.Muted = true, true
	title.SetText(c.k.t("Navigator"))
	n.card = aids.NewCard(title, n.overview, c.k.button(viewNavigator, closeIcon()))
	return n
}

func (n *navigator) update(c change) {
	n.card.Want(n.session.Settings().Navigator && n.session.Document() != nil)
	if !n.card.Wanted() {
		n.overview.Clear()
		return
	}
	_, after := n.session.Pictures()
	if c.Document || c.Corrections || c.Mask || c.View || !n.overview.Has() {
		look := n.k.display.look
		if !n.k.display.maskShown {
			look.Mode = view.PictureOnly
		}
		n.overview.SetPicture(after, n.session.Shown().Mask, look)
	}
	n.overview.Follow(n.k.display.port.Transform(), n.k.display.port.Device())
}
