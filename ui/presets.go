package ui

import (
	"os"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"

	"blik/ui/files"
)

// presetFolder returns the folder of the presets in the menu, beside the settings. It is empty if there are no
// settings.
func (w *window) presetFolder() string {
	if w.config.session.SettingsPath == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(w.config.session.SettingsPath), "presets")
}

// presetItems lists the presets of the folder by name.
func (m *mainMenu) presetItems() (items []*fyne.MenuItem) {
	folder := m.w.presetFolder()
	if folder == "" {
		return nil
	}
	// A folder that cannot be read, or does not exist yet, has no presets.
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), "."+files.PresetExtension)
		if !ok || e.IsDir() || strings.HasPrefix(name, ".") {
			continue
		}
		items = append(items, fyne.NewMenuItem(name, func() {
			if !m.w.k.actions.blocked() {
				m.w.files.ReadPreset(filepath.Join(folder, e.Name()))
			}
		}))
	}
	return items
}
