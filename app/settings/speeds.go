package settings

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Speed is a measurement of a GPU and the CPU, from which the faster one for each picture is chosen.
type Speed struct {
	SpeedKey
	// Open is how long the GPU took from the start of its driver until it could compute.
	Open time.Duration `json:"open"`
	CPU  Line          `json:"cpu"`
	GPU  Line          `json:"gpu"`
}

// SpeedKey identifies what was measured; anything else is measured again.
type SpeedKey struct {
	// Device is the product name of the GPU, Driver the newest CUDA version that its driver supports.
	Device string `json:"device"`
	Driver string `json:"driver"`
	// Threads is the number of processors used by the measurement of the CPU.
	Threads int `json:"threads"`
	// Program identifies the build of the program.
	Program string `json:"program"`
}

// Line is a time that grows linearly with the size of a picture.
type Line struct {
	// Fixed is the constant part, Megapixel the additional time per million pixels.
	Fixed     time.Duration `json:"fixed"`
	Megapixel time.Duration `json:"megapixel"`
}

// LineThrough returns the line through the times of a and b pixels, a < b. Its slope and its constant part are never
// negative.
func LineThrough(a int, at time.Duration, b int, bt time.Duration) Line {
	slope := max(0, float64(bt-at)/float64(b-a))
	return Line{Fixed: max(0, at-time.Duration(slope*float64(a))), Megapixel: time.Duration(slope * 1e6)}
}

// At returns the time for a picture with the given number of pixels.
func (l Line) At(pixels int) time.Duration {
	return l.Fixed + time.Duration(float64(l.Megapixel)*float64(pixels)/1e6)
}

// From returns the number of pixels from which the GPU, once open, is not slower than the CPU; math.MaxInt if it is
// always slower.
func (s Speed) From() int {
	start, gain := s.GPU.Fixed-s.CPU.Fixed, s.CPU.Megapixel-s.GPU.Megapixel
	switch {
	case start <= 0 && gain >= 0:
		return 0
	case gain <= 0:
		return math.MaxInt
	}
	return int(math.Ceil(float64(start) / float64(gain) * 1e6))
}

// maxSpeeds is the number of measurements kept.
const maxSpeeds = 8

// SpeedsPath returns the path of the measurements: speeds.json beside the settings.
func SpeedsPath() (string, error) {
	path, err := Path()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(path), "speeds.json"), nil
}

// FindSpeed returns the measurement of a key and whether one exists. If the file is missing or damaged, there is none,
// and the GPU is measured again.
func FindSpeed(path string, key SpeedKey) (Speed, bool) {
	list := speeds(path)
	i := slices.IndexFunc(list, func(s Speed) bool { return s.SpeedKey == key })
	if i < 0 {
		return Speed{}, false
	}
	return list[i], true
}

// SaveSpeed stores a measurement and removes those of the same devices by other builds of the program.
func SaveSpeed(path string, s Speed) error {
	list := slices.DeleteFunc(speeds(path), func(old Speed) bool {
		old.Program = s.Program
		return old.SpeedKey == s.SpeedKey
	})
	list = append(list, s)
	list = list[max(0, len(list)-maxSpeeds):]
	data, err := json.MarshalIndent(list, "", "  ")
	if err == nil {
		err = writeFile(path, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("save the speeds of devices: %w", err)
	}
	return nil
}

// speeds reads the usable measurements; a missing or damaged file gives none.
func speeds(path string) []Speed {
	var list []Speed
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &list) != nil {
		return nil
	}
	return slices.DeleteFunc(list, func(s Speed) bool {
		return min(s.Open, s.CPU.Fixed, s.CPU.Megapixel, s.GPU.Fixed, s.GPU.Megapixel) < 0
	})
}
