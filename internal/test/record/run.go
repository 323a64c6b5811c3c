package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// run is what one go command took.
type run struct {
	// Args are its arguments, Settings the environment variables that decide what it builds, "GOARCH=arm64".
	Args     []string
	Settings []string
	Start    time.Time
	// Fresh reports whether the build cache was empty.
	Fresh bool
	// Load is the number of processes that wanted a processor during the minute before.
	Load string
	// Wall is how long it took, CPU the processor time of it and of all that it ran, both in seconds.
	Wall, CPU float64
	Packages  []pkg
}

// pkg is what one package took.
type pkg struct {
	Path string
	// Compile is the processor time of compiling and linking the package and its tests; 0 if all was in the build
	// cache.
	Compile float64
	// Run is how long its tests took, RunCPU their processor time.
	Run, RunCPU float64
	Tests       []result
}

// result is that of a top-level test, fuzz target or example.
type result struct {
	Name string
	// Outcome is pass, fail or skip; Why is what a skipped test said.
	Outcome, Why string
	Seconds      float64
}

// standIn runs the go command and returns its exit status. The tests of "go test" are run by this program once more,
// under the arguments "exec BINARY …", which measures each.
func standIn(args []string) int {
	if len(args) > 1 && args[0] == "exec" {
		return measure(args[1], args[2:])
	}
	asks := len(args) > 0 && slices.Contains([]string{"env", "list", "version"}, args[0])
	r := run{Args: args, Settings: settings(), Start: time.Now().UTC(), Fresh: fresh(), Load: load()}
	status, err := r.do(args)
	if err == nil && !asks {
		err = r.save()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		return max(status, 1)
	}
	return status
}

// goCommand is the real one.
func goCommand() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(folder, filepath.Base(self))
		if found, err := exec.LookPath(path); err == nil && filepath.Dir(self) != filepath.Clean(folder) {
			return found, nil
		}
	}
	return "", errors.New("there is no go command in PATH")
}

func (r *run) do(args []string) (status int, err error) {
	name, err := goCommand()
	if err != nil {
		return 1, err
	}
	testing := len(args) > 0 && args[0] == "test" && !slices.Contains(args, "-c")
	var graph, usage string
	if testing {
		work, err := os.MkdirTemp("", "record")
		if err != nil {
			return 1, err
		}
		defer os.RemoveAll(work)
		self, err := os.Executable()
		if err != nil {
			return 1, err
		}
		graph, usage = filepath.Join(work, "graph"), filepath.Join(work, "usage")
		measured := []string{"test", "-json", "-debug-actiongraph=" + graph, "-exec=" + self + " exec"}
		args = append(measured, args[1:]...)
	}
	c := exec.Command(name, args...)
	c.Stdin, c.Stderr, c.Stdout = os.Stdin, os.Stderr, os.Stdout
	c.Env = append(os.Environ(), usageVariable+"="+usage)
	packages := map[string]*pkg{}
	var events io.ReadCloser
	if testing {
		c.Stdout = nil
		if events, err = c.StdoutPipe(); err != nil {
			return 1, err
		}
	}
	if err := c.Start(); err != nil {
		return 1, err
	}
	if testing {
		if err := readEvents(events, os.Stdout, packages); err != nil {
			return 1, err
		}
	}
	err = c.Wait()
	r.Wall = time.Since(r.Start).Seconds()
	r.CPU = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return 1, err
	}
	if testing {
		if err := errors.Join(readGraph(graph, packages), readUsage(usage, packages)); err != nil {
			return 1, err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(packages)) {
		r.Packages = append(r.Packages, *packages[path])
	}
	return c.ProcessState.ExitCode(), nil
}

// save writes the record into the folder, if one is named.
func (r *run) save() error {
	folder := os.Getenv(folderVariable)
	if folder == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(folder, 0o777),
		os.WriteFile(filepath.Join(folder, r.Start.Format("150405.000000000")+".json"), text, 0o666))
}

// settings returns the variables of the environment that change what is built or tested.
func settings() []string {
	var all []string
	for _, name := range []string{"GOEXPERIMENT", "GOARCH", "GOOS", "CGO_ENABLED", "BLIK_KERNELS"} {
		if value, ok := os.LookupEnv(name); ok {
			all = append(all, name+"="+value)
		}
	}
	return all
}

// fresh reports whether the variable GOCACHE names a folder that is empty or absent.
func fresh() bool {
	folder := os.Getenv("GOCACHE")
	entries, err := os.ReadDir(folder)
	return folder != "" && len(entries) == 0 && (err == nil || errors.Is(err, os.ErrNotExist))
}

// load returns the average load of the last minute, where the system reports it.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}

// packageOf returns the package of that path.
func packageOf(packages map[string]*pkg, path string) *pkg {
	if packages[path] == nil {
		packages[path] = &pkg{Path: path}
	}
	return packages[path]
}

// event is one of go test -json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// readEvents reads what go test -json prints. It prints the usual line for each package, and all output of those that
// fail.
func readEvents(from io.Reader, to io.Writer, packages map[string]*pkg) error {
	output := map[string][]string{}
	said := map[string]string{}
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			if _, err := to.Write(line); err != nil {
				return err
			}
			continue
		}
		key := e.Package + " " + e.Test
		switch {
		case e.Action == "build-output":
			fmt.Fprint(to, e.Output)
		case e.Action == "output":
			output[e.Package] = append(output[e.Package], e.Output)
			if text := strings.TrimSpace(e.Output); e.Test != "" && text != "" && !strings.HasPrefix(text, "--- ") &&
				!strings.HasPrefix(text, "=== ") {
				said[key] = text
			}
		case e.Action != "pass" && e.Action != "fail" && e.Action != "skip":
		case e.Test == "":
			finished(to, e, output[e.Package])
			delete(output, e.Package)
			packageOf(packages, e.Package).Run = e.Elapsed
		case !strings.Contains(e.Test, "/"):
			r := result{Name: e.Test, Outcome: e.Action, Seconds: e.Elapsed}
			if e.Action == "skip" {
				r.Why = said[key]
			}
			p := packageOf(packages, e.Package)
			p.Tests = append(p.Tests, r)
		}
	}
}

// finished prints the end of a package.
func finished(to io.Writer, e event, output []string) {
	switch {
	case e.Action == "fail":
		for _, line := range output {
			if !strings.HasPrefix(line, "=== ") {
				fmt.Fprint(to, line)
			}
		}
	case len(output) > 0:
		fmt.Fprint(to, output[len(output)-1])
	}
}

// action is a step of the go command, as -debug-actiongraph writes it. Times are in nanoseconds.
type action struct {
	Package         string
	CmdUser, CmdSys int64
}

// readGraph adds what compiling and linking took.
func readGraph(path string, packages map[string]*pkg) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil // the packages could not be loaded
	}
	var actions []action
	if err == nil {
		err = json.Unmarshal(text, &actions)
	}
	for _, a := range actions {
		if used := time.Duration(a.CmdUser + a.CmdSys); used > 0 {
			packageOf(packages, ofPackage(a.Package)).Compile += used.Seconds()
		}
	}
	return err
}

// ofPackage returns the path of the package that a step of a test belongs to, which is named "a [a.test]",
// "a_test [a.test]", "a_test" or "a.test".
func ofPackage(path string) string {
	if _, test, ok := strings.Cut(path, " ["); ok {
		path = strings.TrimSuffix(test, "]")
	}
	return strings.TrimSuffix(strings.TrimSuffix(path, ".test"), "_test")
}
