// Command pack stores compiled kernels in kernels/code, one archive for each architecture, and takes them out again.
//
//	pack KERNELS FOLDER     stores FOLDER/compute_50/*.ptx, FOLDER/sm_90/*.cubin and so on
//	pack -x KERNELS FOLDER  writes what is stored there
//
// KERNELS is the folder with the sources. Modules whose source is gone are dropped. scripts/kernels.sh calls it.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"blik/kernels/archive"
)

func main() {
	args := os.Args[1:]
	do := store
	if len(args) > 0 && args[0] == "-x" {
		do, args = extract, args[1:]
	}
	if len(args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pack [-x] KERNELS FOLDER")
		os.Exit(2)
	}
	if err := do(args[0], args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// store puts the files of the folders of an outer folder into the archives of the same names. Modules that were
// compiled leave nothing older behind in any archive.
func store(kernels, folder string) error {
	made := map[string]map[string]archive.Member{}
	again := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	if err != nil {
		return err
	}
	for _, path := range files {
		if filepath.Ext(path) == madeOf {
			continue
		}
		m, err := compiled(path)
		if err != nil {
			return err
		}
		architecture, name := filepath.Base(filepath.Dir(path)), filepath.Base(path)
		if made[architecture] == nil {
			made[architecture] = map[string]archive.Member{}
		}
		made[architecture][name] = m
		again[module(name)] = true
	}
	stored, err := archives(kernels)
	if err != nil {
		return err
	}
	for _, path := range stored {
		if architecture := module(filepath.Base(path)); made[architecture] == nil {
			made[architecture] = nil
		}
	}
	keep := func(name string) bool {
		_, err := os.Stat(filepath.Join(kernels, module(name)+".cu"))
		return err == nil && !again[module(name)]
	}
	for _, architecture := range slices.Sorted(maps.Keys(made)) {
		path := filepath.Join(kernels, "code", architecture+archive.Extension)
		if err := update(path, made[architecture], keep); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

func update(path string, members map[string]archive.Member, keep func(name string) bool) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := archive.Update(old, members, keep)
	switch {
	case err != nil || bytes.Equal(file, old):
		return err
	case file == nil:
		return os.Remove(path)
	}
	fmt.Println(path)
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, file, 0o666))
}

// madeOf is the extension of a file that stands beside machine code and holds the hash of the PTX it was made of.
const madeOf = ".of"

// compiled reads a compiled module.
func compiled(path string) (archive.Member, error) {
	var of []byte
	code, err := os.ReadFile(path)
	if err == nil && filepath.Ext(path) == ".cubin" {
		of, err = os.ReadFile(module(path) + madeOf)
	}
	return archive.Member{Code: code, Of: strings.TrimSpace(string(of))}, err
}

// module is the name without its extension.
func module(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }

func archives(kernels string) ([]string, error) {
	return filepath.Glob(filepath.Join(kernels, "code", "*"+archive.Extension))
}

// extract writes the members of all archives.
func extract(kernels, folder string) error {
	stored, err := archives(kernels)
	if err != nil {
		return err
	}
	for _, path := range stored {
		file, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := unpack(file, filepath.Join(folder, module(filepath.Base(path)))); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

func unpack(file []byte, into string) error {
	a, err := archive.Open(file)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(into, 0o777); err != nil {
		return err
	}
	for _, name := range a.Names() {
		m, err := a.Read(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(into, name), m.Code, 0o666)
		}
		if err == nil && m.Of != "" {
			err = os.WriteFile(filepath.Join(into, module(name)+madeOf), []byte(m.Of+"\n"), 0o666)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
