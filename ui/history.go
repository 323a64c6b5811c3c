package ui

// The indices of tabs in the panel.
const (
	findingsTab   = 1
	correctionTab = 2
	historyTab    = 3
)

// showHistory shows the history tab.
func (w *window) showHistory() {
	w.panelShown = true
	w.update(change{Layout: true})
	w.panel.tabs.SelectIndex(historyTab)
}
