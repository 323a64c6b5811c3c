package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// expand returns the files that the arguments name. A pattern that the shell left alone is expanded here; one that
// matches nothing stays as it is and fails when it is opened. What is named twice comes once.
func expand(args []string) []string {
	var files []string
	seen := map[string]bool{}
	add := func(path string) {
		if key := filepath.Clean(path); !seen[key] {
			seen[key] = true
			files = append(files, path)
		}
	}
	for _, arg := range args {
		matches := []string(nil)
		if strings.ContainsAny(arg, "*?[") {
			if _, err := os.Lstat(arg); err != nil {
				matches, _ = filepath.Glob(arg)
			}
		}
		if matches == nil {
			add(arg)
			continue
		}
		for _, m := range matches {
			if info, err := os.Stat(m); err != nil || !info.IsDir() {
				add(m)
			}
		}
	}
	return files
}

// job is one input and what is written for it.
type job struct {
	input           string
	mask, csv, json string
	marked, preview string // empty where not wanted
}

func (j job) outputs() []string {
	var out []string
	for _, path := range []string{j.preview, j.marked, j.mask, j.csv, j.json} {
		if path != "" {
			out = append(out, path)
		}
	}
	return out
}

// stem is a file's name without folder and ending.
func stem(path string) string {
	base := filepath.Base(path)
	if name := strings.TrimSuffix(base, filepath.Ext(base)); name != "" {
		return name
	}
	return base
}

// stems returns those of the inputs, and refuses two that would write the same file, NAME with the given tail.
func (p *program) stems(inputs []string, tail string) ([]string, error) {
	fold := func(s string) string { return s }
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		fold = strings.ToLower // file names there differ in more than case
	}
	names := make([]string, len(inputs))
	first := map[string]string{}
	for i, input := range inputs {
		name := stem(input)
		if other, ok := first[fold(name)]; ok {
			return nil, p.usage("%s and %s would both write %s; give them different names or run them apart", other, input, name+tail)
		}
		first[fold(name)] = input
		names[i] = name
	}
	return names, nil
}

// present are the inputs that are there, to tell them by whatever name.
type present []os.FileInfo

func presentOf(inputs []string) present {
	var there present
	for _, input := range inputs {
		if info, err := os.Stat(input); err == nil {
			there = append(there, info)
		}
	}
	return there
}

// holds says whether the file at path is one of them.
func (s present) holds(path string) bool {
	info, err := os.Stat(path)
	return err == nil && slices.ContainsFunc(s, func(other os.FileInfo) bool { return os.SameFile(info, other) })
}

// plan lays out the outputs in dir and refuses, before any work, what would overwrite an output or an input.
func (p *program) plan(inputs []string, dir string, marked, preview bool) ([]job, error) {
	names, err := p.stems(inputs, "_mask.png")
	if err != nil {
		return nil, err
	}
	jobs := make([]job, len(inputs))
	for i, name := range names {
		at := func(tail string) string { return filepath.Join(dir, name+tail) }
		jobs[i] = job{input: inputs[i], mask: at("_mask.png"), csv: at("_findings.csv"), json: at("_findings.json")}
		if marked {
			jobs[i].marked = at("_marked.png")
		}
		if preview {
			jobs[i].preview = at("_preview.jpg")
		}
	}
	sources := presentOf(inputs)
	for _, j := range jobs {
		for _, out := range j.outputs() {
			if sources.holds(out) {
				return nil, p.usage("%s is an input and would be overwritten by the result of %s; choose another folder with -o", out, j.input)
			}
		}
	}
	return jobs, nil
}
