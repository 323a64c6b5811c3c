package kernels

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"blik/kernels/archive"
)

//go:embed *.cu *.cuh code/*.zip
var files embed.FS

// Names of the sources without their ending; each is a module of its own.
func Names() []string {
	return []string{
		"experiment_sliding", "experiment_sum", "experiment_traversal", "experiment_vhgw", "experiment_wavelet",
		"filter", "grow", "morph", "network", "point", "reduce", "slide", "spans", "tally", "tiles", "window",
	}
}

// PTX returns the text of a module, which the driver compiles, for a GPU of the given compute capability, 90 for 9.0.
// Every module has one for all GPUs from 5.0 on.
func PTX(name string, capability int) (string, error) {
	if capability >= 80 {
		m, err := read("compute_80", name+".ptx")
		if !errors.Is(err, fs.ErrNotExist) {
			return string(m.Code), err
		}
	}
	m, err := read("compute_50", name+".ptx")
	return string(m.Code), err
}

// targets are the GPUs that there is machine code for. Machine code runs on GPUs of its own major version from its
// minor version on.
var targets = [...]int{75, 80, 86, 89, 90}

// Cubin returns the machine code of a module for a GPU of the given compute capability. It saves the driver from
// compiling the PTX, which takes a second or more at the first use of the program. It is nil if there is none for the
// GPU, or if it was made from another PTX.
func Cubin(name string, capability int) ([]byte, error) {
	for _, target := range slices.Backward(targets[:]) {
		if target/10 != capability/10 || target > capability {
			continue
		}
		m, err := read(fmt.Sprint("sm_", target), name+".cubin")
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := PTX(name, capability)
		if err != nil || m.Of != archive.Hash([]byte(text)) {
			return nil, err
		}
		return m.Code, nil
	}
	return nil, nil
}

// read returns a module for an architecture.
func read(architecture, member string) (archive.Member, error) {
	a, err := open("code/" + architecture + archive.Extension)
	if err != nil {
		return archive.Member{}, err
	}
	m, err := a.Read(member)
	if err != nil {
		return m, fmt.Errorf("kernels: %s: %w", architecture, err)
	}
	return m, nil
}

func open(path string) (archive.Archive, error) {
	file, err := files.ReadFile(path)
	if err != nil {
		return archive.Archive{}, fmt.Errorf("kernels: %w", err)
	}
	a, err := archive.Open(file)
	if err != nil {
		return a, fmt.Errorf("kernels: %s: %w", path, err)
	}
	return a, nil
}

// Entries returns the names of the kernels in the text of a module.
func Entries(text string) []string {
	var names []string
	for {
		_, rest, found := strings.Cut(text, ".entry ")
		if !found {
			return names
		}
		name, rest, _ := strings.Cut(rest, "(")
		names = append(names, name)
		text = rest
	}
}
