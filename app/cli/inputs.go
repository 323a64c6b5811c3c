package cli

import (
	"os"
	"path/filepath"
	"runtime"
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
	input string
	// name is the input's file name without its ending.
	name                    string
	mask, csv, json, marked string
}

func (j job) outputs() []string {
	out := []string{j.mask, j.csv, j.json}
	if j.marked != "" {
		out = append(out, j.marked)
	}
	return out
}

// plan lays out the outputs in dir and refuses, before any work, what would overwrite an output or an input.
func (p *program) plan(inputs []string, dir string, marked bool) ([]job, error) {
	fold := func(s string) string { return s }
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		fold = strings.ToLower // file names there differ in more than case
	}
	jobs := make([]job, len(inputs))
	first := map[string]string{}
	for i, input := range inputs {
		base := filepath.Base(input)
		name := strings.TrimSuffix(base, filepath.Ext(base))
		if name == "" {
			name = base
		}
		if other, ok := first[fold(name)]; ok {
			return nil, p.usage("%s and %s would both write %s_mask.png; give them different names or run them apart",
				"%s и %s записали бы один и тот же файл %s_mask.png; переименуйте один из них или обработайте их отдельно", other, input, name)
		}
		first[fold(name)] = input
		at := func(tail string) string { return filepath.Join(dir, name+tail) }
		jobs[i] = job{input: input, name: name, mask: at("_mask.png"), csv: at("_findings.csv"), json: at("_findings.json")}
		if marked {
			jobs[i].marked = at("_marked.png")
		}
	}
	sources := make([]os.FileInfo, 0, len(inputs))
	for _, input := range inputs {
		if info, err := os.Stat(input); err == nil {
			sources = append(sources, info)
		}
	}
	for _, j := range jobs {
		for _, out := range j.outputs() {
			info, err := os.Stat(out)
			if err != nil {
				continue
			}
			for _, s := range sources {
				if os.SameFile(info, s) {
					return nil, p.usage("%s is an input and would be overwritten by the result of %s; choose another folder with -o",
						"%s — входной файл, его заменил бы результат для %s; укажите другую папку через -o", out, j.input)
				}
			}
		}
	}
	return jobs, nil
}
