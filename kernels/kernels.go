package kernels

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"sort"
	"strings"
)

//go:embed *.cu *.cuh ptx/*.ptx
var files embed.FS

// Names of the sources without their ending; each is a module of its own.
func Names() []string {
	return []string{"filter", "morph", "point", "reduce", "slide", "spans", "tiles", "window"}
}

// experimentPrefix begins the names of the sources that only the experiments need.
const experimentPrefix = "experiment_"

// PTX returns the text of every module of the Backend for a GPU of the given compute capability, 90 for 9.0: at least
// 50. The driver compiles it for the GPU at hand.
func PTX(capability int) []string { return texts(capability, false) }

// Experiments returns the text of the modules that only the experiments need.
func Experiments(capability int) []string { return texts(capability, true) }

func texts(capability int, experiments bool) []string {
	target := "50"
	if capability >= 80 {
		target = "80"
	}
	var list []string
	for _, n := range Names() {
		if strings.HasPrefix(n, experimentPrefix) != experiments {
			continue
		}
		text, err := files.ReadFile("ptx/" + n + "_" + target + ".ptx")
		if err != nil {
			text, err = files.ReadFile("ptx/" + n + "_50.ptx")
		}
		if err == nil {
			list = append(list, string(text))
		}
	}
	return list
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

// SourceHash is the SHA-256 of the source of a module and of what it includes, as its PTX names it in the first line.
func SourceHash(name string) string {
	sum := sha256.New()
	for _, f := range []string{"common.cuh", name + ".cu"} {
		text, _ := files.ReadFile(f)
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Hash is the SHA-256 of all sources and PTX: what was verified on a GPU is what has this hash.
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
