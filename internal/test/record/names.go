package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// isTest matches the functions that "go test" runs without -bench.
var isTest = regexp.MustCompile(`^(Test|Fuzz|Example)([^a-z].*)?$`)

// names returns the tests in the sources below a folder, for all systems and build tags: "folder TestName", sorted.
func names(root string) ([]string, error) {
	var all []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (name[0] == '.' || name[0] == '_' || name == "testdata"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Recv == nil && f.Name.Name != "TestMain" && isTest.MatchString(f.Name.Name) {
				all = append(all, filepath.ToSlash(folder)+" "+f.Name.Name)
			}
		}
		return err
	})
	slices.Sort(all)
	return slices.Compact(all), err
}

func writeNames(w io.Writer, root string) error {
	all, err := names(root)
	for _, n := range all {
		fmt.Fprintln(w, n)
	}
	return err
}

// outcomes returns what became of the tests in the runs of a folder: "pass", or why they were skipped.
func outcomes(folder string) (map[string]string, error) {
	runs, err := read(folder)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, r := range runs {
		for _, p := range r.Packages {
			_, inside, _ := strings.Cut(p.Path, "/")
			for _, t := range p.Tests {
				name := inside + " " + t.Name
				switch {
				case t.Outcome == "pass":
					all[name] = "pass"
				case all[name] == "":
					all[name] = t.Outcome + ": " + t.Why
				}
			}
		}
	}
	return all, nil
}

// writeTiers prints each test of the sources with the runs in which it passed, then those that passed in none, with the
// reason.
func writeTiers(w io.Writer, root string, folders []string) error {
	all, err := names(root)
	if err != nil {
		return err
	}
	tiers := make([]map[string]string, len(folders))
	for i, folder := range folders {
		if tiers[i], err = outcomes(folder); err != nil {
			return err
		}
	}
	var none []string
	for _, name := range all {
		var in []string
		why := "in no run"
		for i, tier := range tiers {
			switch outcome := tier[name]; outcome {
			case "":
			case "pass":
				in = append(in, filepath.Base(folders[i]))
			default:
				why = outcome
			}
		}
		if len(in) == 0 {
			none = append(none, name+": "+why)
			continue
		}
		fmt.Fprintf(w, "%s: %s\n", name, strings.Join(in, " "))
	}
	if len(none) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d tests passed in no run:\n%s", len(none), len(all), strings.Join(none, "\n"))
}
