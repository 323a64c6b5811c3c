package cli

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blik/internal/test/testpic"
)

func TestBenchLists(t *testing.T) {
	t.Parallel()
	got := call(t, "bench")
	if got.status != exitDone {
		t.Fatal(got.errors)
	}
	for _, want := range []string{"sliding — Mean over a sliding window", "cpu-vhgw-all", "needs an NVIDIA GPU", "--param se=…", "gpu-6-coalesced"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in\n%s", want, got.out)
		}
	}
	if got := call(t, "--lang", "ru", "bench"); !strings.Contains(got.out, "sum — Сумма большого массива") {
		t.Error(got.out)
	}
}

func TestBenchMeasures(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	got := call(t, "bench", "sliding", "--quick", "--size", "61x37,1x1", "--param", "m=3,201", "--device", "cpu", "--input", painting(t, t.TempDir(), "p.png"), "-o", dir)
	if got.status != exitDone || got.errors != "" {
		t.Fatalf("status %d, stderr %q", got.status, got.errors)
	}
	for _, want := range []string{"cpu-direct-all", "61×37", "201", "exact", "needs an NVIDIA GPU", "Open: "} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in\n%s", want, got.out)
		}
	}
	for _, name := range []string{"sliding.txt", "sliding.csv", "sliding.json", "sliding_time_61x37.png", "sliding_time_61x37.svg"} {
		if !slices.Contains(testpic.Listed(t, dir), name) {
			t.Errorf("no %s in %q", name, testpic.Listed(t, dir))
		}
	}
}

func TestBenchFormats(t *testing.T) {
	t.Parallel()
	args := []string{"bench", "sum", "--quick", "--size", "1000,2^10", "--variant", "cpu-all,gpu-tree", "--format"}
	got := call(t, append(args, "csv")...)
	rows, err := csv.NewReader(strings.NewReader(got.out)).ReadAll()
	if err != nil || len(rows) != 4 || rows[1][1] != "cpu-all" || rows[3][1] != "gpu-tree" {
		t.Errorf("%q, %v, %s", rows, err, got.errors)
	}
	got = call(t, append(args, "json")...)
	var d struct {
		Machine struct{ Cores int }
		Rows    []struct{ Variant, State string }
	}
	if err := json.Unmarshal([]byte(got.out), &d); err != nil || d.Machine.Cores < 1 || len(d.Rows) != 3 || d.Rows[2].State != "needs GPU" {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestBenchLeavesOutWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	got := call(t, "bench", "sum", "--quick", "--size", "2^20", "--memory", "0.001", "--variant", "cpu-all")
	if got.status != exitDone || !strings.Contains(got.out, "left out: needs 4 MiB of memory, more than the 1.02 MiB allowed") {
		t.Error(got.out, got.errors)
	}
	got = call(t, "--lang", "ru", "bench", "sliding", "--size", "1000x1000", "--longest", "0.000001", "--variant", "cpu-direct", "--param", "m=101")
	if got.status != exitDone || !strings.Contains(got.out, "пропущено: один запуск занял бы около 10\u00a0с") {
		t.Error(got.out, got.errors)
	}
}

func TestBenchRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"slide"}, `unknown experiment "slide"; choose from sliding, vhgw, traversal, wavelet, sum, all, detect`},
		{[]string{"slide", "--lang", "ru"}, `неизвестный опыт "slide"; есть sliding, vhgw, traversal, wavelet, sum, all, detect`},
		{[]string{"sum", "detect"}, "detect is a separate command: blik bench detect"},
		{[]string{"sum", "--variant", "x"}, `unknown variant "x"; choose from cpu-sequential, cpu-pairwise`},
		{[]string{"sum", "--size", "3x3"}, "a number of values such as 2^20 is needed"},
		{[]string{"sum", "--size", "big"}, `--size: size "big": expected as 1024x768`},
		{[]string{"vhgw", "--param", "se"}, "--param se: expected as NAME=VALUE"},
		{[]string{"vhgw", "--param", "se=4"}, "se=4: an odd number from 1 to 4095 expected"},
		{[]string{"vhgw", "--param", "m=4"}, `unknown parameter "m"; choose from op, kind, shape, se`},
		{[]string{"sum", "--format", "xml"}, "--format xml: must be one of table, csv, json"},
		{[]string{"sum", "--device", "gpu"}, "--device gpu: must be auto, cpu, cuda or cuda:N"},
		{[]string{"sum", "--device", "gpu", "--lang", "ru"}, "--device gpu: допустимы auto, cpu, cuda и cuda:N"},
		{[]string{"sum", "--longest", "0"}, "--longest 0"},
		{[]string{"sum", "--memory", "-1"}, "--memory -1"},
		{[]string{"all", "--variant", "cpu-all"}, "apply to a single experiment"},
		{[]string{"sum", "sliding", "--format", "json"}, "--format json applies to a single experiment; -o DIR writes it for several"},
		{[]string{"--quick"}, "name an experiment: sliding, vhgw, traversal, wavelet, sum, all, detect"},
		{[]string{"--quick", "--lang", "ru"}, "укажите опыт:"},
	} {
		got := call(t, append([]string{"bench"}, c.args...)...)
		if got.status != exitUsage || !strings.Contains(got.errors, c.want) {
			t.Errorf("%q: status %d, %q", c.args, got.status, got.errors)
		}
	}
	if got := call(t, "bench", "sum", "--input", "missing.png"); got.status != exitFailed || !strings.Contains(got.errors, "missing.png") {
		t.Errorf("%d, %q", got.status, got.errors)
	}
}

func TestBenchCompletes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"bench", ""}, "sliding\n"},
		{[]string{"bench", ""}, "detect\t"},
		{[]string{"bench", "sum", "--variant", ""}, "cpu-sequential\n"},
		{[]string{"bench", "sum", "--format", ""}, "json\n"},
	} {
		if got := call(t, append([]string{"__complete"}, c.args...)...); !strings.Contains(got.out, c.want) {
			t.Errorf("%q: no %q in %q", c.args, c.want, got.out)
		}
	}
}

func TestBenchCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := callWith(ctx, nil, "bench", "sum", "--quick"); got.status != exitCancelled {
		t.Errorf("%d, %q", got.status, got.errors)
	}
}
