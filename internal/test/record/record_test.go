package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"blik/internal/test/testpic"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestReadEvents(t *testing.T) {
	t.Parallel()
	var events strings.Builder
	for _, e := range []event{
		{Action: "start", Package: "m/a"}, {Action: "run", Package: "m/a", Test: "TestOne"},
		{Action: "output", Package: "m/a", Test: "TestOne", Output: "=== RUN   TestOne\n"},
		{Action: "pass", Package: "m/a", Test: "TestOne/part", Elapsed: 1},
		{Action: "pass", Package: "m/a", Test: "TestOne", Elapsed: 2.5},
		{Action: "output", Package: "m/a", Test: "TestTwo", Output: "    a_test.go:3: needs a GPU\n"},
		{Action: "output", Package: "m/a", Test: "TestTwo", Output: "--- SKIP: TestTwo (0.00s)\n"},
		{Action: "skip", Package: "m/a", Test: "TestTwo"},
		{Action: "output", Package: "m/a", Output: "PASS\n"},
		{Action: "output", Package: "m/a", Output: "ok  m/a 3s\n"},
		{Action: "pass", Package: "m/a", Elapsed: 3},
		{Action: "output", Package: "m/b", Test: "TestThree", Output: "=== CONT  TestThree\n"},
		{Action: "output", Package: "m/b", Test: "TestThree", Output: "    b_test.go:7: wrong\n"},
		{Action: "fail", Package: "m/b", Test: "TestThree"}, {Action: "output", Package: "m/b", Output: "FAIL m/b\n"},
		{Action: "fail", Package: "m/b", Elapsed: 1},
		{Action: "build-output", Output: "m/c: cannot be compiled\n"},
	} {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		events.Write(append(line, '\n'))
	}
	events.WriteString("no event\n")
	packages := map[string]*pkg{}
	var printed strings.Builder
	if err := readEvents(strings.NewReader(events.String()), &printed, packages); err != nil {
		t.Fatal(err)
	}
	const want = "ok  m/a 3s\n    b_test.go:7: wrong\nFAIL m/b\nm/c: cannot be compiled\nno event\n"
	if printed.String() != want {
		t.Errorf("printed %q, want %q", printed.String(), want)
	}
	if got := packages["m/a"]; got.Run != 3 || !slices.Equal(got.Tests, []result{
		{Name: "TestOne", Outcome: "pass", Seconds: 2.5},
		{Name: "TestTwo", Outcome: "skip", Why: "a_test.go:3: needs a GPU"},
	}) {
		t.Errorf("%+v", got)
	}
	if got := packages["m/b"]; len(got.Tests) != 1 || got.Tests[0].Outcome != "fail" {
		t.Errorf("%+v", got)
	}
}

func TestCompileTimes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "graph")
	write(t, path, `[{"Package": "m/a", "CmdUser": 1500000000, "CmdSys": 500000000},
		{"Package": "m/a [m/a.test]", "CmdUser": 1000000000},
		{"Package": "m/a_test", "CmdUser": 500000000}, {"Package": "m/a_test [m/a.test]", "CmdUser": 500000000},
		{"Package": "m/a.test", "CmdUser": 1000000000},
		{"Package": "m/b [m/a.test]", "CmdUser": 250000000}, {"Package": "fmt"}]`)
	packages := map[string]*pkg{}
	if err := readGraph(path, packages); err != nil {
		t.Fatal(err)
	}
	if len(packages) != 1 || packages["m/a"].Compile != 5.25 {
		t.Errorf("%+v", packages["m/a"])
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, filepath.Join(root, "a", "a_test.go"), "//go:build windows\n\npackage a\n\n"+
		"func TestB() {}\nfunc Testing() {}\nfunc FuzzA() {}\nfunc ExampleA_b() {}\nfunc Test() {}\n"+
		"func TestMain() {}\nfunc BenchmarkA() {}\nfunc (x T) TestC() {}\n")
	write(t, filepath.Join(root, "a", "a.go"), "package a\n\nfunc TestNot() {}\n")
	write(t, filepath.Join(root, "a", "testdata", "b_test.go"), "package a\n\nfunc TestNot() {}\n")
	got, err := names(root)
	if want := []string{"a ExampleA_b", "a FuzzA", "a Test", "a TestB"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// folder writes records into a folder of that name.
func folder(t *testing.T, name string, runs ...run) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	for i, r := range runs {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, string(rune('a'+i))+".json"), string(text))
	}
	return dir
}

func TestTiers(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, filepath.Join(root, "a", "a_test.go"), "package a\n\nfunc TestA() {}\nfunc TestB() {}\nfunc TestC() {}\n")
	of := func(results ...result) run { return run{Packages: []pkg{{Path: "m/a", Tests: results}}} }
	pass := func(name string) result { return result{Name: name, Outcome: "pass"} }
	skip := func(name, why string) result { return result{Name: name, Outcome: "skip", Why: why} }
	short := folder(t, "short", of(pass("TestA"), skip("TestB", "long")))
	all := folder(t, "all", of(skip("TestA", "x"), pass("TestB")), of(pass("TestA"), skip("TestC", "needs a GPU")))
	var printed strings.Builder
	err := writeTiers(&printed, root, []string{short, all})
	if want := "a TestA: short all\na TestB: all\n"; printed.String() != want {
		t.Errorf("printed %q, want %q", printed.String(), want)
	}
	if want := "1 of 3 tests passed in no run:\na TestC: skip: needs a GPU"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
	if err := writeTiers(&printed, root, []string{t.TempDir()}); err == nil {
		t.Error("a folder without records was accepted")
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	dir := folder(t, "test",
		run{Args: []string{"test", "-race", "./..."}, Settings: []string{"GOEXPERIMENT=simd", "BLIK_KERNELS=plain"},
			Start: at.Add(time.Minute), Load: "12.50", Wall: 30, CPU: 45, Packages: []pkg{
				{Path: "blik/a", Compile: 1, Run: 2, RunCPU: 3, Tests: []result{
					{Name: "TestA", Outcome: "pass", Seconds: 2}, {Name: "TestB", Outcome: "skip"}}},
				{Path: "fmt", Compile: 7}}},
		run{Args: []string{"vet", "./..."}, Start: at, Fresh: true, Load: "9.50", Wall: 10, CPU: 20})
	var page bytes.Buffer
	if err := writePage(&page, dir); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"it was empty at the beginning.\n", "2026-11-25: 40 s by the clock, 65 s of processor time",
		"load average was 9.50 at the beginning, and up to 12.50",
		"| 1 | `go vet ./...` | 10 | 20 |\n| 2 | `BLIK_KERNELS=plain go test -race ./...` | 30 | 45 |\n",
		"| `blik/a` | 1.0 | 2.0 | 3.0 | 2 | 1 |\n",
		"| standard library and modules | 7.0 | 0.0 | 0.0 | 0 | 0 |\n", "| **all** | 8.0 | 2.0 | 3.0 | 2 | 1 |\n",
		"| TestA | `blik/a` | 2 | 2.0 |\n", "It lacks what runs staticcheck.\n",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, page.String())
		}
	}
}

// The stand-in prints and returns what the go command would, and leaves a record.
func TestStandIn(t *testing.T) {
	t.Parallel()
	testpic.Long(t)
	testpic.Program(t, "go")
	bin, module, records := t.TempDir(), t.TempDir(), t.TempDir()
	standIn := filepath.Join(bin, "go")
	if out, err := exec.Command("go", "build", "-o", standIn, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	write(t, filepath.Join(module, "go.mod"), "module m\n\ngo 1.26\n")
	write(t, filepath.Join(module, "a", "a_test.go"), "package a\n\nimport \"testing\"\n\n"+
		"func TestGood(t *testing.T) {}\nfunc TestBad(t *testing.T) { t.Error(\"wrong\") }\n")
	c := exec.Command(standIn, "test", "./...")
	c.Dir, c.Env = module, append(os.Environ(), folderVariable+"="+records, "GOFLAGS=")
	out, err := c.CombinedOutput()
	if c.ProcessState.ExitCode() != 1 || !bytes.Contains(out, []byte("wrong")) ||
		!bytes.Contains(out, []byte("FAIL\tm/a")) {
		t.Errorf("%v\n%s", err, out)
	}
	runs, err := read(records)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(runs[0].Packages, func(p pkg) bool { return p.Path == "m/a" })
	if i < 0 || runs[0].CPU == 0 {
		t.Fatalf("%+v", runs[0])
	}
	if p := runs[0].Packages[i]; len(p.Tests) != 2 || p.Compile == 0 || p.RunCPU == 0 {
		t.Errorf("%+v", p)
	}
}
