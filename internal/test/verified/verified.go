// Package verified is the record that the kernels passed their tests on a GPU.
package verified

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"blik/kernels/archive"
)

// File is the name of the record in the folder of the kernels.
const File = "verified.json"

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

// Hash returns the SHA-256 of all sources, PTX and machine code in the folder of the kernels; the record of a
// verification names it. How the code is compressed does not matter.
func Hash(folder string) (string, error) {
	sum := sha256.New()
	add := func(name string, text []byte) {
		sum.Write([]byte(name))
		sum.Write([]byte{0})
		sum.Write(text)
	}
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, _ fs.DirEntry, err error) error {
		architecture, isCode := strings.CutSuffix(path, archive.Extension)
		if err != nil || !isCode && filepath.Ext(path) != ".cu" && filepath.Ext(path) != ".cuh" {
			return err
		}
		text, err := os.ReadFile(filepath.Join(folder, path))
		if err != nil {
			return err
		}
		if !isCode {
			add(path, text)
			return nil
		}
		a, err := archive.Open(text)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, name := range a.Names() {
			m, err := a.Read(name)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			add(architecture+"/"+name, m.Code)
		}
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}
