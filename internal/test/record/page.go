package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// slowest is the number of tests that the page lists.
const slowest = 20

// read returns the records in a folder in the order in which they were made.
func read(folder string) ([]run, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: there are no records", folder)
	}
	runs := make([]run, len(paths))
	for i, path := range paths {
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, &runs[i])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	slices.SortFunc(runs, func(a, b run) int { return a.Start.Compare(b.Start) })
	return runs, nil
}

// writePage prints docs/tests.md.
func writePage(w io.Writer, folder string) error {
	runs, err := read(folder)
	if err != nil {
		return err
	}
	first := runs[0]
	wall, cpu, busiest := 0.0, 0.0, 0.0
	for _, r := range runs {
		wall, cpu = wall+r.Wall, cpu+r.CPU
		if l, err := strconv.ParseFloat(r.Load, 64); err == nil {
			busiest = max(busiest, l)
		}
	}
	cache := "filled with packages of other work"
	if first.Fresh {
		cache = "empty at the beginning"
	}
	fmt.Fprintf(w, `# What the tests cost

%s writes this page: it runs %s and records every go command in it. "Processor" is the time of all
processors together, which depends little on what else the machine does; "clock" is the time that passed.
Compiling costs nothing where the build cache has the result: it was %s.

%s: %.0f s by the clock, %.0f s of processor time, on %d processors with %s %s/%s.
The load average was %s at the beginning, and up to %s during the run. The run itself accounts for some 3; what is
above is other work on the machine, which makes the clock slow.

## Commands

| | command | clock, s | processor, s |
|---|---|---:|---:|
`, "`make times`", "`make test`", cache, first.Start.Format("2006-01-02"), wall, cpu,
		runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, first.Load, fmt.Sprintf("%.2f", busiest))
	for i, r := range runs {
		fmt.Fprintf(w, "| %d | `%s` | %.0f | %.0f |\n", i+1, r.command(), r.Wall, r.CPU)
	}
	if lacking := lacks(runs); len(lacking) > 0 {
		fmt.Fprintf(w, "\nThe record is not complete. It lacks what runs %s.\n", strings.Join(lacking, " and "))
	}
	writeSlowest(w, runs)
	for i, r := range runs {
		if len(r.Packages) > 0 {
			r.write(w, i+1)
		}
	}
	return nil
}

// lacks returns the arguments that occur in a whole make test, but in none of the runs.
func lacks(runs []run) []string {
	return slices.DeleteFunc([]string{"staticcheck", "-race"}, func(arg string) bool {
		return slices.ContainsFunc(runs, func(r run) bool { return slices.Contains(r.Args, arg) })
	})
}

// command is the run's command line without what is the same in all, shortened.
func (r *run) command() string {
	const most = 100
	var words []string
	for _, s := range r.Settings {
		if s != "GOEXPERIMENT=simd" {
			words = append(words, s)
		}
	}
	words = append(words, "go")
	for _, a := range r.Args {
		if root, err := os.Getwd(); err == nil {
			a = strings.ReplaceAll(a, root+string(filepath.Separator), "")
		}
		words = append(words, strings.ReplaceAll(a, "|", "\\|"))
	}
	line := []rune(strings.Join(words, " "))
	if len(line) > most {
		line = append(line[:most], '…')
	}
	return string(line)
}

// write prints the packages of a run.
func (r *run) write(w io.Writer, number int) {
	fmt.Fprintf(w, "\n## Packages of command %d\n\n`%s`\n\n", number, r.command())
	fmt.Fprint(w, "| package | compile, processor s | run, clock s | run, processor s | tests | skipped |\n"+
		"|---|---:|---:|---:|---:|---:|\n")
	var all, others pkg
	var tests, skipped int
	own := slices.DeleteFunc(slices.Clone(r.Packages), func(p pkg) bool {
		if p.Path == "blik" || strings.HasPrefix(p.Path, "blik/") {
			return false
		}
		others.Compile += p.Compile
		return true
	})
	slices.SortFunc(own, func(a, b pkg) int { return cmp.Compare(b.Compile+b.RunCPU, a.Compile+a.RunCPU) })
	line := func(name string, p pkg, tests, skipped int) {
		fmt.Fprintf(w, "| %s | %.1f | %.1f | %.1f | %d | %d |\n", name, p.Compile, p.Run, p.RunCPU, tests, skipped)
	}
	for _, p := range own {
		if p.Compile+p.RunCPU < 0.05 && len(p.Tests) == 0 {
			continue
		}
		n := 0
		for _, t := range p.Tests {
			if t.Outcome == "skip" {
				n++
			}
		}
		line("`"+p.Path+"`", p, len(p.Tests), n)
		all.Compile, all.Run, all.RunCPU = all.Compile+p.Compile, all.Run+p.Run, all.RunCPU+p.RunCPU
		tests, skipped = tests+len(p.Tests), skipped+n
	}
	line("standard library and modules", others, 0, 0)
	all.Compile += others.Compile
	line("**all**", all, tests, skipped)
}

// writeSlowest prints the slowest tests of all runs.
func writeSlowest(w io.Writer, runs []run) {
	type row struct {
		result
		path    string
		command int
	}
	var rows []row
	for i, r := range runs {
		for _, p := range r.Packages {
			for _, t := range p.Tests {
				rows = append(rows, row{t, p.Path, i + 1})
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.Seconds, a.Seconds) })
	fmt.Fprintf(w, "\n## The slowest tests\n\n| test | package | command | clock, s |\n|---|---|---:|---:|\n")
	for _, r := range rows[:min(slowest, len(rows))] {
		fmt.Fprintf(w, "| %s | `%s` | %d | %.1f |\n", r.Name, r.path, r.command, r.Seconds)
	}
}
