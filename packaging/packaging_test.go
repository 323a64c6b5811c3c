package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var date = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

func TestZip(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "blik-1")
	for name, mode := range map[string]os.FileMode{"blik.exe": 0o755, "docs/LICENSE": 0o600} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	var archives [2][]byte
	for i := range archives {
		// The modification times of the files must not matter.
		later := date.Add(time.Duration(i) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, "blik.exe"), later, later); err != nil {
			t.Fatal(err)
		}
		output := filepath.Join(t.TempDir(), "a.zip")
		if err := writeZip(output, dir, date); err != nil {
			t.Fatal(err)
		}
		var err error
		if archives[i], err = os.ReadFile(output); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("two archives of the same files differ")
	}
	r, err := zip.NewReader(bytes.NewReader(archives[0]), int64(len(archives[0])))
	if err != nil {
		t.Fatal(err)
	}
	modes := map[string]os.FileMode{"blik-1/blik.exe": 0o755, "blik-1/docs/LICENSE": 0o644}
	for _, f := range r.File {
		c, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(c)
		if want := strings.TrimPrefix(f.Name, "blik-1/"); err != nil || string(content) != want {
			t.Errorf("%s holds %q (%v)", f.Name, content, err)
		}
		if f.Mode().Perm() != modes[f.Name] || !f.Modified.Equal(date) {
			t.Errorf("%s: %v, %v", f.Name, f.Mode(), f.Modified)
		}
		delete(modes, f.Name)
	}
	if len(modes) > 0 {
		t.Errorf("%v is missing", modes)
	}
}

func TestLicencesAreRecognised(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "testdata"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"LICENSE":              "Permission is hereby granted,\nfree of charge, to any person",
		"a/COPYING.txt":        "Redistribution and use in source and binary forms\nNeither the name of",
		"a/licence.go":         "package a // not a text",
		"a/testdata/LICENSE":   "Apache License",
		"a/NOTICE":             "something nobody has seen",
		"a/unrelated-LICENSES": "Apache License",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := licencesIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, l := range found {
		got[l.name] = l.spdx
	}
	want := map[string]string{"LICENSE": "MIT", "a/COPYING.txt": "BSD-3-Clause", "a/NOTICE": "NOASSERTION"}
	if len(got) != len(want) || found[0].name != "LICENSE" {
		t.Errorf("%v", got)
	}
	for name, spdx := range want {
		if got[name] != spdx {
			t.Errorf("%s is %q, want %s", name, got[name], spdx)
		}
	}
}

// The test binary itself has module information.
func TestSBOM(t *testing.T) {
	t.Parallel()
	output := filepath.Join(t.TempDir(), "a.json")
	if err := writeSBOM("1.2.3", os.Args[0], output, date); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	var b bom
	if err := json.Unmarshal(data, &b); err != nil {
		t.Fatal(err)
	}
	if b.Format != "CycloneDX" || b.Metadata.Component.Version != "1.2.3" || len(b.Metadata.Component.Hashes) != 1 ||
		b.Metadata.Timestamp != "2026-11-22T10:00:00Z" || len(b.Serial) != len("urn:uuid:")+36 {
		t.Errorf("%+v", b.Metadata)
	}
	names := map[string]component{}
	for _, c := range b.Components {
		names[c.Name] = c
	}
	cobra := names["github.com/spf13/cobra"]
	if cobra.PURL != "pkg:golang/github.com/spf13/cobra@"+cobra.Version || len(cobra.Licences) == 0 ||
		cobra.Licences[0].Licence.ID != "Apache-2.0" || !strings.HasPrefix(cobra.Properties[0].Value, "h1:") {
		t.Errorf("%+v", cobra)
	}
	if names["std"].Version == "" || len(b.Dependencies) != 1 || len(b.Dependencies[0].On) != len(b.Components) {
		t.Errorf("%+v %+v", names["std"], b.Dependencies)
	}
}

func TestManual(t *testing.T) {
	t.Parallel()
	for lang, words := range map[string][]string{
		"en": {".SH NAME\n", ".SH OPTIONS\n", "--sensitivity"}, "ru": {".SH ИМЯ\n", ".SH ПАРАМЕТРЫ\n", "--sensitivity"},
	} {
		dir := t.TempDir()
		if err := writeManual(lang, "1.2.3", dir, date); err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join(dir, "blik-detect.1"))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range append(words, "Nov 2026", "Blik 1.2.3") {
			if !strings.Contains(string(page), w) {
				t.Errorf("%s: the page lacks %q:\n%.400s", lang, w, page)
			}
		}
	}
	if err := writeManual("xx", "1", t.TempDir(), date); err == nil {
		t.Error("a manual in no language was written")
	}
}

func TestWrongUse(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "")
	if err := run([]string{"zip", "a", "b"}); err == nil || !strings.Contains(err.Error(), "SOURCE_DATE_EPOCH") {
		t.Error(err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1")
	for _, args := range [][]string{nil, {"zip"}, {"zip", "a"}, {"sbom", "1", "2"}, {"nothing", "a", "b"}} {
		if err := run(args); err == nil || !strings.Contains(err.Error(), "usage") {
			t.Errorf("%v: %v", args, err)
		}
	}
	if err := run([]string{"sbom", "1", os.DevNull, filepath.Join(t.TempDir(), "x")}); err == nil {
		t.Error("a bill of materials of nothing")
	}
}
