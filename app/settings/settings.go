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
	"blik/processing/network"
)

// MaxRecent is the number of recent files kept.
const MaxRecent = 10

// Settings are the values that the program stores between runs.
type Settings struct {
	// Language is "en", "ru" or, for the system's language, empty.
	Language string `json:"language"`
	// Recent lists the files opened last, the latest first, at most MaxRecent, as absolute paths.
	Recent []string `json:"recent"`
	// LastFolder is where the file dialog starts.
	LastFolder string `json:"last-folder"`
	// WindowWidth and WindowHeight are in the toolkit's units; 0 leaves the size to the window.
	WindowWidth  float64 `json:"window-width"`
	WindowHeight float64 `json:"window-height"`
	// Appearance is the ID of the window's look and Device the name of the device to compute on; empty where none was
	// chosen.
	Appearance string `json:"appearance,omitempty"`
	Device     string `json:"device,omitempty"`
	// OverlayColour is the ID of a view.OverlayColour.
	OverlayColour string `json:"overlay-colour"`
	// OverlayOpacity is 0…1.
	OverlayOpacity float64 `json:"overlay-opacity"`
	// BrushRadius is in image pixels.
	BrushRadius float64 `json:"brush-radius"`
	// BrushSoftness is the share of the radius over which the brush falls off, 0…1.
	BrushSoftness float64 `json:"brush-softness"`
	// ReviewZoom is the zoom at which findings are centred, 1 for one screen pixel per picture pixel; ReviewFitting
	// shows each some 40 screen pixels wide, 0 keeps the current zoom if it is at least 1.
	ReviewZoom float64 `json:"review-zoom"`
	// FindingThumbnails shows the findings as thumbnails instead of a table.
	FindingThumbnails bool `json:"finding-thumbnails,omitempty"`
	// SideBySide shows the original beside the result; Navigator, Loupe and Histogram are shown over the picture.
	SideBySide bool `json:"side-by-side,omitempty"`
	Navigator  bool `json:"navigator,omitempty"`
	Loupe      bool `json:"loupe,omitempty"`
	Histogram  bool `json:"histogram,omitempty"`
	// HideGrid hides the pixel grid, HideReasons the explanation of the finding under the pointer.
	HideGrid    bool `json:"hide-grid,omitempty"`
	HideReasons bool `json:"hide-reasons,omitempty"`
	// InterfaceScale is the size of everything in the window, 1 for the default; 0 follows the system.
	InterfaceScale float64 `json:"interface-scale,omitempty"`
	// Keys are the keys that replace the default ones.
	Keys Keys `json:"keys,omitempty"`
	// WriteReport writes a report beside each corrected picture.
	WriteReport bool `json:"write-report"`
	// OutputFolder is the folder of corrected pictures and their reports; empty for that of each original.
	OutputFolder string `json:"output-folder,omitempty"`
	// Params are the parameters of detection and correction used last. Load leaves manual mode with its values, which
	// belong to the picture that they were set for.
	Params processing.Params `json:"-"`
}

// DamagedError is a settings file that could not be parsed. The settings returned with it are the defaults.
type DamagedError struct {
	// Path is the file, Kept the path to which it was moved; Kept is empty if that failed.
	Path, Kept string
	Err        error
}

func (e *DamagedError) Error() string {
	if e.Kept == "" {
		return fmt.Sprintf("settings file %s is damaged (%v); starting with the defaults", e.Path, e.Err)
	}
	return fmt.Sprintf("settings file %s is damaged (%v); it is kept as %s, starting with the defaults",
		e.Path, e.Err, e.Kept)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// Default returns the settings for the first start.
func Default() Settings {
	return Settings{
		OverlayColour: "red", OverlayOpacity: 0.6, BrushRadius: 10, WriteReport: true, ReviewZoom: ReviewFitting,
		Params: processing.DefaultParams(),
	}
}

// Path returns the path of the settings file: blik/settings.json in the user's configuration folder.
func Path() (string, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the folder for settings: %w", err)
	}
	return filepath.Join(folder, "blik", "settings.json"), nil
}

// file is the JSON form of Settings. Parameters are stored by the ID of their description, as numbers, true or false,
// or the ID of a choice, so that adding or removing one does not affect the others.
type file struct {
	Settings
	Params map[string]json.RawMessage `json:"params"`
	// Learned holds the learned parameters of detection.
	Learned *processing.Learned `json:"learned,omitempty"`
}

// Load reads the settings. A file that does not exist gives the defaults without an error; a damaged one gives the
// defaults and a *DamagedError, and is moved aside with the extension .bad; a value out of its range gives its default.
// The settings returned can always be used.
func Load(path string) (Settings, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Default(), nil
	}
	if err != nil {
		return Default(), fmt.Errorf("read settings: %w", err)
	}
	f := file{Settings: Default()}
	if err := json.Unmarshal(data, &f); err != nil {
		damaged := &DamagedError{Path: path, Err: err}
		if kept := path + ".bad"; os.Rename(path, kept) == nil {
			damaged.Kept = kept
		}
		return Default(), damaged
	}
	return f.settings(), nil
}

// Save writes the settings atomically and makes the folder if it is missing.
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

// writeFile replaces a file atomically and makes the folder if it is missing.
func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.WriteFile(path, data, 0o600)
}

func (s Settings) file() file {
	f := file{Settings: s, Params: map[string]json.RawMessage{}, Learned: s.Params.Learned}
	for _, spec := range processing.Specs() {
		text := spec.Format(spec.Get(s.Params))
		if spec.Kind == processing.KindChoice {
			text = strconv.Quote(text)
		}
		f.Params[spec.ID] = json.RawMessage(text)
	}
	return f
}

// settings checks each value separately and replaces those out of range by the default.
func (f file) settings() Settings {
	s, usual := f.Settings, Default()
	if s.Language != "en" && s.Language != "ru" {
		s.Language = ""
	}
	s.Recent = nil
	for _, path := range f.Recent {
		if filepath.IsAbs(path) && !slices.Contains(s.Recent, path) && len(s.Recent) < MaxRecent {
			s.Recent = append(s.Recent, path)
		}
	}
	if s.WindowWidth <= 0 || s.WindowHeight <= 0 {
		s.WindowWidth, s.WindowHeight = 0, 0
	}
	if !filepath.IsAbs(s.OutputFolder) {
		s.OutputFolder = ""
	}
	if s.OverlayColour == "" {
		s.OverlayColour = usual.OverlayColour
	}
	if s.OverlayOpacity < 0 || s.OverlayOpacity > 1 {
		s.OverlayOpacity = usual.OverlayOpacity
	}
	if s.BrushRadius < minBrush || s.BrushRadius > maxBrush {
		s.BrushRadius = usual.BrushRadius
	}
	if s.BrushSoftness < 0 || s.BrushSoftness > 1 {
		s.BrushSoftness = usual.BrushSoftness
	}
	if s.InterfaceScale < 0.5 || s.InterfaceScale > 4 {
		s.InterfaceScale = 0
	}
	if s.ReviewZoom < 0 && s.ReviewZoom != ReviewFitting || s.ReviewZoom > maxReviewZoom {
		s.ReviewZoom = usual.ReviewZoom
	}
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
	// Parameters learned for another version of the detector do not apply to this one.
	if model, err := network.Default(); f.Learned != nil && err == nil && f.Learned.Validate(model) == nil {
		s.Params.Learned = f.Learned
	}
	s.Params = s.Params.Automatic()
	return s
}

// The range of the brush radius in image pixels, as in document.Brush.
const (
	minBrush = 0.5
	maxBrush = 2000
)

// ReviewFitting is the ReviewZoom that shows each finding as wide as it is best judged.
const ReviewFitting = -1

// maxReviewZoom bounds the zoom at which findings are reviewed.
const maxReviewZoom = 32

// AddRecent moves a file to the front of the recent files and makes its folder LastFolder. A relative path is made
// absolute.
func (s *Settings) AddRecent(path string) {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	s.RemoveRecent(path)
	s.Recent = slices.Insert(s.Recent, 0, path)
	s.Recent = s.Recent[:min(len(s.Recent), MaxRecent)]
	s.LastFolder = filepath.Dir(path)
}

// RemoveRecent removes a file that could not be opened.
func (s *Settings) RemoveRecent(path string) {
	s.Recent = slices.DeleteFunc(slices.Clone(s.Recent), func(recent string) bool { return recent == path })
}

// Keys maps the ID of an action to the key combination chosen by the user, such as "Ctrl+G", "F5" or "b"; empty for
// none.
type Keys map[string]string

// UnmarshalJSON keeps the entries that are strings and ignores all others.
func (k *Keys) UnmarshalJSON(data []byte) error {
	*k = nil
	var entries map[string]json.RawMessage
	if json.Unmarshal(data, &entries) != nil {
		return nil
	}
	for id, raw := range entries {
		var text *string
		if json.Unmarshal(raw, &text) != nil || text == nil {
			continue
		}
		if *k == nil {
			*k = Keys{}
		}
		(*k)[id] = *text
	}
	return nil
}
