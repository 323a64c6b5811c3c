package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// usageVariable names the file to which the runs of the tests add a line each.
const usageVariable = "BLIK_RECORD_USAGE"

// usage is the processor time of a package's tests in seconds. Folder is that of the package.
type usage struct {
	Folder string
	CPU    float64
}

// measure runs the tests of a package and returns their exit status.
func measure(binary string, args []string) int {
	file := os.Getenv(usageVariable)
	c := exec.Command(binary, args...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	// The go command asks for the stacks of tests that hang.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGQUIT, os.Interrupt)
	err := c.Start()
	if err == nil {
		go func() {
			for s := range signals {
				_ = c.Process.Signal(s)
			}
		}()
		err = c.Wait()
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, "record:", err)
		return 1
	}
	folder, err := os.Getwd()
	if err == nil {
		err = appendUsage(file, usage{folder, (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		return 1
	}
	return c.ProcessState.ExitCode()
}

// appendUsage adds a line to a file in one write, since several packages are tested at once.
func appendUsage(file string, u usage) error {
	line, err := json.Marshal(u)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// readUsage adds the processor time of the tests to their packages, whose folders end like their paths.
func readUsage(file string, packages map[string]*pkg) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil // there were no tests
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); err == nil && lines.Scan(); {
		var u usage
		err = json.Unmarshal(lines.Bytes(), &u)
		for path, p := range packages {
			_, inside, _ := strings.Cut(path, "/")
			if len(p.Tests) > 0 && u.Folder == filepath.Join(root(u.Folder), filepath.FromSlash(inside)) {
				p.RunCPU += u.CPU
			}
		}
	}
	return err
}

// root returns the nearest folder above that has a go.mod.
func root(folder string) string {
	for dir := folder; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
	}
}
