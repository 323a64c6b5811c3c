package bench

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"blik/app/i18n"
	"blik/lab/experiment"
)

// timed returns a measured row of a variant. values are pairs of a parameter's name and its value.
func timed(e *experiment.Experiment, variant string, size experiment.Size, values ...string) experiment.Row {
	i := slices.IndexFunc(e.Variants, func(v experiment.Variant) bool { return v.ID == variant })
	row := experiment.Row{Variant: e.Variants[i], Case: experiment.Case{Size: size, Values: map[string]string{}},
		State: experiment.Measured, Runs: 3, Spread: experiment.SpreadOf([]time.Duration{time.Millisecond})}
	for i := 0; i < len(values); i += 2 {
		row.Case.Values[values[i]] = values[i+1]
	}
	return row
}

func drawn(t *testing.T, p Plot) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b, "svg"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A variant that does not depend on a parameter is in the plot of each of its values.
func TestPlotsOfVariantsThatIgnore(t *testing.T) {
	t.Parallel()
	e, err := experiment.Find("traversal")
	if err != nil {
		t.Fatal(err)
	}
	r := &experiment.Result{Experiment: e}
	for _, n := range []int{10, 20} {
		s := experiment.Size{W: n, H: n}
		r.Rows = append(r.Rows, timed(e, "cpu-raster-fast", s), timed(e, "gpu-raster-fast-4", s, "memory", "device"),
			timed(e, "gpu-hilbert-fast", s, "memory", "mapped"))
	}
	plots, err := Plots(r, i18n.For("en"))
	if err != nil || !slices.Equal(names(plots), []string{"traversal_time_device", "traversal_time_mapped"}) {
		t.Fatalf("%q, %v", names(plots), err)
	}
	for i, lines := range [][]string{{"CPU fast raster", "GPU fast raster, 4 pixels"},
		{"CPU fast raster", "GPU fast Hilbert"}} {
		svg := drawn(t, plots[i])
		for _, l := range lines {
			if !strings.Contains(svg, ">"+l+"<") {
				t.Errorf("%s: no line %q", plots[i].Name, l)
			}
		}
	}
	// If no value of the parameter has a line, the variant that does not depend on it has its own plot.
	r.Rows = r.Rows[:4]
	if plots, err := Plots(r, i18n.For("en")); err != nil || !slices.Equal(names(plots), []string{"traversal_time"}) {
		t.Errorf("%q, %v", names(plots), err)
	}
}

// Numeric parameters have their own plots, and single values of them have none over the size.
func TestPlotsAlongEachNumber(t *testing.T) {
	t.Parallel()
	e, err := experiment.Find("wavelet")
	if err != nil {
		t.Fatal(err)
	}
	r := &experiment.Result{Experiment: e}
	gpu := func(size experiment.Size, threads string) {
		r.Rows = append(r.Rows, timed(e, "gpu-6-coalesced", size, "wavelet", "d4", "direction", "forward", "index",
			"shift", "threads", threads, "results", "2"))
	}
	for _, k := range []int{16, 18} {
		r.Rows = append(r.Rows, timed(e, "cpu-all", experiment.Line(1<<k), "wavelet", "d4", "direction", "forward"))
		gpu(experiment.Line(1<<k), "128")
	}
	gpu(experiment.Line(1<<18), "64")
	r.Rows = append(r.Rows, timed(e, "cpu-all", experiment.Size{W: 30, H: 20}, "wavelet", "d4", "direction", "forward"))
	plots, err := Plots(r, i18n.For("en"))
	want := []string{"wavelet_time_forward-shift-results-2-threads-128-d4",
		"wavelet_time_threads_2-18-forward-shift-results-2-d4"}
	if err != nil || !slices.Equal(names(plots), want) {
		t.Fatalf("%q, %v, want %q", names(plots), err, want)
	}
	if svg := drawn(t, plots[0]); !strings.Contains(svg, ">CPU all cores<") ||
		!strings.Contains(svg, ">GPU 6 coalesced copy<") {
		t.Error("a line is missing over the sizes")
	}
	if svg := drawn(t, plots[1]); strings.Contains(svg, ">CPU all cores<") || !strings.Contains(svg, ">64<") ||
		!strings.Contains(svg, ">128<") {
		t.Error("over the threads there are other rows or ticks")
	}
}
