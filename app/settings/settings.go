package settings

import (
	"fmt"

	"blik/processing"
)

// MaxRecent is the number of recent files kept.
const MaxRecent = 10

// Settings are what the program remembers.
type Settings struct {
	// Language is "en", "ru" or, for the system's language, empty.
	Language string
	// Recent are the files opened last, the latest first, at most MaxRecent, as absolute paths.
	Recent []string
	// LastFolder is where the file dialog starts.
	LastFolder string
	// WindowWidth and WindowHeight are in the toolkit's units; 0 leaves the size to the window.
	WindowWidth, WindowHeight float64
	// OverlayColour is the ID of a view.OverlayColour.
	OverlayColour string
	// OverlayOpacity is 0…1.
	OverlayOpacity float64
	// BrushRadius is in image pixels.
	BrushRadius float64
	BrushSoft   bool
	// Params are the parameters of detection used last.
	Params processing.Params
}

// DamagedError says that a settings file could not be read as such. The settings returned with it are the defaults.
type DamagedError struct {
	// Path is the file, Kept where its content was moved to; Kept is empty where that failed.
	Path, Kept string
	Err        error
}

func (e *DamagedError) Error() string {
	if e.Kept == "" {
		return fmt.Sprintf("settings file %s is damaged (%v); starting with the defaults", e.Path, e.Err)
	}
	return fmt.Sprintf("settings file %s is damaged (%v); it is kept as %s, starting with the defaults", e.Path, e.Err, e.Kept)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// Default returns the settings of a first start.
func Default() Settings {
	return Settings{OverlayColour: "red", OverlayOpacity: 0.6, BrushRadius: 10, Params: processing.DefaultParams()}
}

// Path returns the place of the settings file: blik/settings.json in the user's configuration folder.
func Path() (string, error) { return "", nil }

// Load reads the settings. A file that does not exist gives the defaults without an error; a damaged one gives the
// defaults and a *DamagedError; a value out of its range gives its default.
// The settings returned can always be used.
func Load(path string) (Settings, error) { return Default(), nil }

// Save writes the settings whole or not at all, making the folder where it is missing.
func (s Settings) Save(path string) error { return nil }

// AddRecent puts a file first among the recent ones and makes its folder the last one.
func (s *Settings) AddRecent(path string) {}

// RemoveRecent forgets a file that could not be opened.
func (s *Settings) RemoveRecent(path string) {}
