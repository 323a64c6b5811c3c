package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// writeLicences writes one file with the licences of everything built into any of the programs: a table, then each
// distinct text once.
func writeLicences(output string, programs []string) error {
	modules := map[string]string{}
	for _, path := range programs {
		p, err := readProgram(path)
		if err != nil {
			return err
		}
		for _, m := range p.Deps {
			modules[m.Path] = m.Version
		}
	}
	var table, texts strings.Builder
	seen := map[string][]string{}
	var order []string
	list := func(name string, found []licence) error {
		if len(found) == 0 {
			return fmt.Errorf("%s has no licence", name)
		}
		var ids []string
		for _, l := range found {
			if l.spdx != "NOASSERTION" && !slices.Contains(ids, l.spdx) {
				ids = append(ids, l.spdx)
			}
			text := strings.TrimSpace(strings.ReplaceAll(l.text, "\r", ""))
			if seen[text] == nil {
				order = append(order, text)
			}
			seen[text] = append(seen[text], name+" ("+l.name+")")
		}
		fmt.Fprintf(&table, "%-62s %s\n", name, cmp.Or(strings.Join(ids, ", "), "see below"))
		return nil
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "LICENSE"))
	if err != nil {
		return err
	}
	own := licence{"LICENSE", string(text), spdxOf(string(text))}
	if err := list("The Go standard library and runtime", []licence{own}); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		found, err := licences(path, modules[path])
		if err != nil {
			return err
		}
		if err := list(path+" "+modules[path], found); err != nil {
			return err
		}
	}
	for _, text := range order {
		fmt.Fprintf(&texts, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(seen[text], "\n"), text)
	}
	return os.WriteFile(output, []byte("Blik is under the MIT licence (LICENSE). Built into it are:\n\n"+
		table.String()+texts.String()), 0o644)
}
