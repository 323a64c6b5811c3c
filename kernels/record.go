package kernels

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed verified.json
var verified []byte

// Record says that the kernels with a hash passed their tests on a GPU. "make gpu-verify" writes it.
type Record struct {
	// Device and Driver are where the tests ran, Date when: "2006-01-02".
	Device string `json:"device"`
	Driver string `json:"driver"`
	Date   string `json:"date"`
	// Hash is the result of Hash at that time.
	Hash string `json:"hash"`
	// Note describes anything unusual about the record.
	Note string `json:"note,omitempty"`
	// Tests are the tests that passed.
	Tests []string `json:"tests"`
	// Figures are times with the planes on the device.
	Figures []Figure `json:"figures"`
	// Ratios are comparisons of figures, and errors of sums.
	Ratios []Ratio `json:"ratios"`
}

// Figure is a measured time; GigabytesPerSecond counts the bytes that must be read and written at least.
type Figure struct {
	Name               string  `json:"name"`
	Milliseconds       float64 `json:"ms"`
	GigabytesPerSecond float64 `json:"gb_per_s"`
}

// Ratio is a measured number in a unit: "%", or "" for a plain ratio.
type Ratio struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
}

// Verified returns the record of the last verification.
func Verified() (Record, error) {
	var r Record
	if err := json.Unmarshal(verified, &r); err != nil {
		return r, fmt.Errorf("kernels/verified.json: %w", err)
	}
	return r, nil
}
