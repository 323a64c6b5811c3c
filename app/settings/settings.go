package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"blik/internal/atomicfile"
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
	// Appearance is the ID of the window's look, Device the name of the device to work on; empty where none was chosen.
	Appearance, Device string
	// OverlayColour is the ID of a view.OverlayColour.
	OverlayColour string
	// OverlayOpacity is 0…1.
	OverlayOpacity float64
	// BrushRadius is in image pixels.
	BrushRadius float64
	BrushSoft   bool
	// WriteReport: a report is written beside each corrected picture.
	WriteReport bool
	// Params are the parameters of detection and correction used last.
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
	return Settings{OverlayColour: "red", OverlayOpacity: 0.6, BrushRadius: 10, WriteReport: true, Params: processing.DefaultParams()}
}

// Path returns the place of the settings file: blik/settings.json in the user's configuration folder.
func Path() (string, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the folder for settings: %w", err)
	}
	return filepath.Join(folder, "blik", "settings.json"), nil
}

// file is the JSON form of Settings. Parameters go by the ID of their description, as numbers, true or false, or
// the ID of a choice, so that a parameter that comes or goes disturbs no other.
type file struct {
	Language       string                     `json:"language"`
	Recent         []string                   `json:"recent"`
	LastFolder     string                     `json:"last-folder"`
	WindowWidth    float64                    `json:"window-width"`
	WindowHeight   float64                    `json:"window-height"`
	Appearance     string                     `json:"appearance,omitempty"`
	Device         string                     `json:"device,omitempty"`
	OverlayColour  string                     `json:"overlay-colour"`
	OverlayOpacity float64                    `json:"overlay-opacity"`
	BrushRadius    float64                    `json:"brush-radius"`
	BrushSoft      bool                       `json:"brush-soft"`
	WriteReport    bool                       `json:"write-report"`
	Params         map[string]json.RawMessage `json:"params"`
}

// Load reads the settings. A file that does not exist gives the defaults without an error; a damaged one gives the
// defaults and a *DamagedError, and is moved aside with the ending .bad; a value out of its range gives its default.
// The settings returned can always be used.
func Load(path string) (Settings, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Default(), nil
	}
	if err != nil {
		return Default(), fmt.Errorf("read settings: %w", err)
	}
	f := Default().file()
	if err := json.Unmarshal(data, &f); err != nil {
		damaged := &DamagedError{Path: path, Err: err}
		if kept := path + ".bad"; os.Rename(path, kept) == nil {
			damaged.Kept = kept
		}
		return Default(), damaged
	}
	return f.settings(), nil
}

// Save writes the settings whole or not at all, making the folder where it is missing.
func (s Settings) Save(path string) error {
	data, err := json.MarshalIndent(s.file(), "", "  ")
	if err != nil {
		return fmt.Errorf("save settings: %w", err)
	}
	if err := writeFile(path, append(data, '\n')); err != nil {
		return fmt.Errorf("save settings: %w", err)
	}
	return nil
}

// writeFile replaces a file in one step, making the folder where it is missing.
func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.WriteFile(path, data, 0o600)
}

func (s Settings) file() file {
	f := file{
		Language: s.Language, Recent: s.Recent, LastFolder: s.LastFolder,
		WindowWidth: s.WindowWidth, WindowHeight: s.WindowHeight,
		Appearance: s.Appearance, Device: s.Device,
		OverlayColour: s.OverlayColour, OverlayOpacity: s.OverlayOpacity,
		BrushRadius: s.BrushRadius, BrushSoft: s.BrushSoft, WriteReport: s.WriteReport,
		Params: map[string]json.RawMessage{},
	}
	for _, spec := range processing.Specs() {
		text := spec.Format(spec.Get(s.Params))
		if spec.Kind == processing.KindChoice {
			text = strconv.Quote(text)
		}
		f.Params[spec.ID] = json.RawMessage(text)
	}
	return f
}

// settings checks every value by itself; what is out of range becomes the default.
func (f file) settings() Settings {
	s := Default()
	if f.Language == "en" || f.Language == "ru" {
		s.Language = f.Language
	}
	for _, path := range f.Recent {
		if filepath.IsAbs(path) && !slices.Contains(s.Recent, path) && len(s.Recent) < MaxRecent {
			s.Recent = append(s.Recent, path)
		}
	}
	s.LastFolder = f.LastFolder
	if f.WindowWidth > 0 && f.WindowHeight > 0 {
		s.WindowWidth, s.WindowHeight = f.WindowWidth, f.WindowHeight
	}
	s.Appearance, s.Device = f.Appearance, f.Device
	if f.OverlayColour != "" {
		s.OverlayColour = f.OverlayColour
	}
	if f.OverlayOpacity >= 0 && f.OverlayOpacity <= 1 {
		s.OverlayOpacity = f.OverlayOpacity
	}
	if f.BrushRadius >= minBrush && f.BrushRadius <= maxBrush {
		s.BrushRadius = f.BrushRadius
	}
	s.BrushSoft, s.WriteReport = f.BrushSoft, f.WriteReport
	for _, spec := range processing.Specs() {
		raw, ok := f.Params[spec.ID]
		if !ok {
			continue
		}
		text := string(raw)
		var unquoted string
		if json.Unmarshal(raw, &unquoted) == nil {
			text = unquoted
		}
		if v, err := spec.Parse(text); err == nil {
			// Parse has checked the value.
			_ = spec.Set(&s.Params, v)
		}
	}
	return s
}

// The range of a brush, in image pixels: that of document.Brush.
const (
	minBrush = 0.5
	maxBrush = 2000
)

// AddRecent puts a file first among the recent ones and makes its folder the last one. A relative path is made absolute.
func (s *Settings) AddRecent(path string) {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	s.RemoveRecent(path)
	s.Recent = slices.Insert(s.Recent, 0, path)
	s.Recent = s.Recent[:min(len(s.Recent), MaxRecent)]
	s.LastFolder = filepath.Dir(path)
}

// RemoveRecent forgets a file that could not be opened.
func (s *Settings) RemoveRecent(path string) {
	var rest []string
	for _, r := range s.Recent {
		if r != path {
			rest = append(rest, r)
		}
	}
	s.Recent = rest
}
