package ui

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"blik/ui/arrange"
)

// The window fits into 1280 × 720 pixels at double interface scale, minus menu and title bar, with any tool and tab,
// with and without a picture, in both languages.
func TestSmallWindow(t *testing.T) {
	for _, lang := range []string{"en", "ru"} {
		room := fyne.NewSize(640, 360-30-2*theme.Padding())
		start := newHarness(t, lang)
		if size := start.win.Content().MinSize(); size.Width > room.Width || size.Height > room.Height {
			t.Errorf("%s: the start page needs %v, available are %v", lang, size, room)
		}
		h := fixed(t, lang)
		h.k.actions.do("tool.brush")
		h.k.actions.do("find.next")
		h.win.Resize(fyne.NewSize(640, 330))
		for tab := range h.panel.tabs.Items {
			h.panel.tabs.SelectIndex(tab)
			if size := h.win.Content().MinSize(); size.Width > room.Width || size.Height > room.Height {
				t.Errorf("%s: the window needs %v with tab %d, available are %v", lang, size, tab, room)
			}
		}
		h.panel.tabs.SelectIndex(1)
		if list := h.panel.findings.table.Size(); list.Height < arrange.LeastList {
			t.Errorf("%s: the list is %v high", lang, list.Height)
		}
		h.k.actions.do("view.panel")
		if h.panel.object.Size().Width > arrange.PanelWidth {
			t.Errorf("%s: the panel is %v wide", lang, h.panel.object.Size().Width)
		}
	}
}

// Ctrl+PageDown cycles through the tabs of the panel and shows the panel if it is hidden.
func TestPanelTurns(t *testing.T) {
	h := fixed(t, "en")
	h.k.actions.do("view.panel")
	h.panel.tabs.SelectIndex(0)
	h.k.actions.do("panel.previous")
	if !h.panelShown || h.panel.tabs.SelectedIndex() != historyTab {
		t.Errorf("tab %d is selected, panel shown %v", h.panel.tabs.SelectedIndex(), h.panelShown)
	}
	h.k.actions.do("panel.next")
	if h.panel.tabs.SelectedIndex() != 0 {
		t.Errorf("tab %d is selected", h.panel.tabs.SelectedIndex())
	}
}
