package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// program is the build information embedded in a program.
type program struct {
	*buildinfo.BuildInfo
	// goVersion is the version of the Go toolchain, without the prefix "go".
	goVersion string
}

// readProgram reads the build information that the Go linker embeds in a program.
func readProgram(path string) (*program, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(info.GoVersion, "go"), " ")
	return &program{info, version}, nil
}

// setting returns a build setting, such as GOOS.
func (p *program) setting(key string) string {
	for _, s := range p.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// licence is a licence file: its name within the module, its text, and its SPDX identifier.
type licence struct {
	name, text, spdx string
}

// licences returns the licences of a module from the module cache, those in its root folder first. Third-party parts of
// a module, such as fonts and C libraries, have their own licences.
func licences(path, version string) ([]licence, error) {
	out, err := exec.Command("go", "mod", "download", "-json", path+"@"+version).Output()
	if err != nil {
		return nil, fmt.Errorf("find module %s@%s: %w", path, version, err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return nil, err
	}
	return licencesIn(module.Dir)
}

var termsName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|unlicense|ofl|ftl)`)

func licencesIn(dir string) ([]licence, error) {
	var found []licence
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			name := entry.Name()
			if path != dir && (name == "testdata" || name == "vendor" || strings.HasPrefix(name, "_")) {
				return fs.SkipDir
			}
			return nil
		}
		if !termsName.MatchString(entry.Name()) || slices.Contains([]string{".go", ".sh", ".yml"}, filepath.Ext(path)) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		found = append(found, licence{filepath.ToSlash(name), string(text), spdxOf(string(text))})
		return err
	})
	slices.SortStableFunc(found, func(a, b licence) int {
		return strings.Count(a.name, "/") - strings.Count(b.name, "/")
	})
	return found, err
}

// known lists phrases that identify common licences, the more specific first.
var known = []struct{ words, spdx string }{
	// The user chooses between FreeType's licence and the GPL.
	{"your choice of exactly one of the following two licenses", "FTL"},
	{"Mozilla Public License Version 2.0", "MPL-2.0"},
	{"GNU LESSER GENERAL PUBLIC LICENSE", "LGPL-2.1-or-later"},
	{"GNU GENERAL PUBLIC LICENSE", "GPL-2.0-or-later"},
	{"SIL OPEN FONT LICENSE", "OFL-1.1"},
	{"The FreeType Project LICENSE", "FTL"},
	{"Creative Commons Attribution", "CC-BY-4.0"},
	{"Bitstream Vera", "Bitstream-Vera"},
	{"Apache License", "Apache-2.0"},
	{"This is free and unencumbered software", "Unlicense"},
	{"altered source versions must be plainly marked", "Zlib"},
	{"Permission to use, copy, modify, and/or distribute", "ISC"},
	{"Permission to use, copy, modify, and distribute", "ISC"},
	{"Permission is hereby granted, free of charge", "MIT"},
	{"Neither the name", "BSD-3-Clause"},
	{"names of its contributors may", "BSD-3-Clause"},
	{"Redistribution and use in source and binary forms", "BSD-2-Clause"},
}

// spdxOf returns the SPDX identifier of a licence text, or NOASSERTION if the text is unknown.
func spdxOf(text string) string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, k := range known {
		if strings.Contains(text, strings.ToLower(k.words)) {
			return k.spdx
		}
	}
	return "NOASSERTION"
}
