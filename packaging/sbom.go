package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"
)

// The fields of a bill of materials that are written here (CycloneDX 1.5, https://cyclonedx.org/docs/1.5/json/).
type bom struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licences   []choice   `json:"licenses,omitempty"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type choice struct {
	Licence identified `json:"license"`
}

type identified struct {
	ID string `json:"id"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn"`
}

// writeSBOM writes the bill of materials of a program from its embedded build information, which does not include the
// version.
func writeSBOM(version, path, output string, date time.Time) error {
	p, err := readProgram(path)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	top := component{
		Type: "application", Ref: "pkg:golang/" + p.Main.Path + "@" + version, Name: filepath.Base(path),
		Version: version,
		Hashes:  []hash{{"SHA-256", hex.EncodeToString(sum[:])}}, Licences: []choice{{identified{"MIT"}}},
	}
	top.PURL = top.Ref
	for _, key := range []string{"GOOS", "GOARCH", "GOAMD64", "CGO_ENABLED", "GOEXPERIMENT", "-tags"} {
		if v := p.setting(key); v != "" {
			top.Properties = append(top.Properties, property{"go:" + key, v})
		}
	}
	// The serial number must be unique to the document but reproducible for the same program (RFC 9562, 5.8).
	id := sum[:16]
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	b := bom{
		Format: "CycloneDX", Spec: "1.5", Version: 1,
		Serial:   fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]),
		Metadata: metadata{date.Format(time.RFC3339), top},
	}
	std := "pkg:golang/std@" + p.goVersion
	b.Components = []component{{
		Type: "library", Ref: std, Name: "std", Version: p.goVersion, PURL: std,
		Licences: []choice{{identified{"BSD-3-Clause"}}},
	}}
	on := []string{std}
	for _, m := range p.Deps {
		c, err := describe(m)
		if err != nil {
			return err
		}
		b.Components = append(b.Components, c)
		on = append(on, c.Ref)
	}
	b.Dependencies = []dependency{{top.Ref, on}}
	data, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(output, append(data, '\n'), 0o644)
}

// describe returns the entry of a module. The checksum from go.sum is not a file hash, so it is stored as a property
// rather than as a CycloneDX hash.
func describe(m *debug.Module) (component, error) {
	purl := "pkg:golang/" + m.Path + "@" + m.Version
	c := component{
		Type: "library", Ref: purl, Name: m.Path, Version: m.Version, PURL: purl,
		Properties: []property{{"go:sum", m.Sum}},
	}
	found, err := licences(m.Path, m.Version)
	if err != nil {
		return c, err
	}
	seen := map[string]bool{"NOASSERTION": true}
	for _, l := range found {
		if !seen[l.spdx] {
			seen[l.spdx] = true
			c.Licences = append(c.Licences, choice{identified{l.spdx}})
		}
	}
	return c, nil
}
