package kernels

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sort"
	"strconv"
	"strings"
)

//go:embed *.cu *.cuh ptx/*.ptx cubin/*.tar
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
		text, err := files.ReadFile("ptx/" + name + "_80.ptx")
		if err == nil {
			return string(text), nil
		}
	}
	text, err := files.ReadFile("ptx/" + name + "_50.ptx")
	if err != nil {
		return "", fmt.Errorf("kernels: %w", err)
	}
	return string(text), nil
}

// Cubin returns the machine code of a module for a GPU of the given compute capability. It saves the driver from
// compiling the PTX, which takes a second or more at the first use of the program. It is nil if there is none for the
// GPU, or if it was made from another PTX. Machine code runs on GPUs of its own major version from its minor version
// on.
func Cubin(name string, capability int) ([]byte, error) {
	fail := func(err error) ([]byte, error) { return nil, fmt.Errorf("kernels: machine code of %s: %w", name, err) }
	archive, err := files.ReadFile("cubin/" + name + ".tar")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return fail(err)
	}
	text, err := PTX(name, capability)
	if err != nil {
		return nil, err
	}
	var best []byte
	from := 0
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fail(err)
		}
		if h.Name == ptxHashMember {
			made, err := io.ReadAll(r)
			if err != nil {
				return fail(err)
			}
			if !slices.Contains(strings.Fields(string(made)), hash(text)) {
				return nil, nil
			}
			continue
		}
		target, err := strconv.Atoi(strings.TrimSuffix(h.Name, ".gz"))
		if err != nil {
			return fail(err)
		}
		if target/10 == capability/10 && target <= capability && target > from {
			if best, err = io.ReadAll(r); err != nil {
				return fail(err)
			}
			from = target
		}
	}
	if best == nil {
		return nil, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(best))
	if err != nil {
		return fail(err)
	}
	code, err := io.ReadAll(z)
	if err != nil {
		return fail(err)
	}
	return code, nil
}

// ptxHashMember names the member of an archive of machine code that holds the SHA-256 of each PTX it was made of.
const ptxHashMember = "ptx.sha256"

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
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

// sourceHash is the SHA-256 of the source of a module and its includes, as named in the first line of its PTX.
func sourceHash(name string) string {
	sum := sha256.New()
	for _, f := range []string{"common.cuh", name + ".cu"} {
		text, _ := files.ReadFile(f)
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Hash is the SHA-256 of all sources, PTX and machine code; the record of a verification names it.
func Hash() string {
	sum := sha256.New()
	var names []string
	_ = fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	})
	sort.Strings(names)
	for _, n := range names {
		text, _ := files.ReadFile(n)
		sum.Write([]byte(n))
		sum.Write([]byte{0})
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
