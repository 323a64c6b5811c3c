package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"blik/app/i18n"
	"blik/internal/message"
	"blik/processing"
)

// clock is advanced by the fake variants.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// fake is a method whose runs take the given times in order; the last time is repeated.
type fake struct {
	clock      *clock
	took       []time.Duration
	value      uint8
	memory     int64
	operations float64
	prepared   error
	failed     error
	own        time.Duration
	ran        func(n int)

	runs, closed int
}

func (f *fake) Memory(Case) int64       { return f.memory }
func (f *fake) Operations(Case) float64 { return f.operations }
func (f *fake) Prepare(context.Context, *Input, Case) (Runner, error) {
	if f.prepared != nil {
		return nil, f.prepared
	}
	if f.own > 0 {
		return timedFake{f}, nil
	}
	return f, nil
}

func (f *fake) Run(context.Context) error {
	if len(f.took) > 0 {
		f.clock.at = f.clock.at.Add(f.took[min(f.runs, len(f.took)-1)])
	}
	f.runs++
	if f.ran != nil {
		f.ran(f.runs)
	}
	return f.failed
}

func (f *fake) Output(context.Context) (Output, error) { return Output{U8: []uint8{f.value}}, nil }
func (f *fake) Close() error                           { f.closed++; return nil }

type timedFake struct{ *fake }

func (t timedFake) Elapsed() time.Duration { return t.own }

// fakes is an experiment whose correct result is one pixel of 1.
func fakes(variants ...Variant) *Experiment {
	return &Experiment{
		ID: "fake",
		Params: []Param{
			{ID: "m", Values: []string{"3", "5"}, Number: &Number{Min: 1, Max: 9, Odd: true}},
			{ID: "kind", Values: []string{"a", "b"}},
		},
		Grids:    []Grid{{Sizes: []Size{{1, 1}}}},
		Quick:    []Grid{{Sizes: []Size{{2, 1}}}},
		Variants: variants,
		shape:    pictures,
		input: func(_ context.Context, c Case, _ *source) (*Input, error) {
			return &Input{Size: c.Size}, nil
		},
		inputBytes: func(Case) int64 { return 100 },
		check: func(_ context.Context, _ *Input, _ Case, _ Variant, out Output) (Check, error) {
			c := Check{Compared: 1, Samples: 1}
			if out.U8[0] != 1 {
				return c, message.Errorf("wrong")
			}
			return c, nil
		},
	}
}

func one(id string, f *fake) Variant { return Variant{ID: id, Device: CPU, Method: f} }

func quiet() *pace { return &pace{least: 5, most: 9, enough: time.Second, long: time.Minute} }

func TestMedianAndSpread(t *testing.T) {
	t.Parallel()
	c := &clock{}
	ms := func(list ...int) (out []time.Duration) {
		for _, n := range list {
			out = append(out, time.Duration(n)*time.Millisecond)
		}
		return out
	}
	for _, k := range []struct {
		took             []time.Duration
		pace             pace
		runs             int
		low, q1, mid, q3 time.Duration
	}{
		// The first run is for the check.
		{ms(9, 5, 1, 4, 2, 3), pace{least: 5, most: 5, long: time.Minute}, 5, 1e6, 2e6, 3e6, 4e6},
		{ms(9, 40, 10, 20, 30), pace{least: 4, most: 4, long: time.Minute}, 4, 10e6, 17.5e6, 25e6, 32.5e6},
		// Repeat until enough time has passed.
		{ms(20), pace{least: 3, most: 100, enough: 200 * time.Millisecond, long: time.Minute}, 10, 20e6, 20e6, 20e6,
			20e6},
		// Repeat long runs less often.
		{ms(2000), pace{least: 5, most: 100, enough: time.Millisecond, long: time.Second}, 3, 2e9, 2e9, 2e9, 2e9},
		// The first three runs warm up and are not counted.
		{ms(10, 20, 20, 4, 4, 4), pace{least: 3, most: 3, warm: 50 * time.Millisecond, long: time.Minute}, 3, 4e6, 4e6,
			4e6, 4e6},
	} {
		f := &fake{clock: c, took: k.took, value: 1}
		r, err := Run(t.Context(), fakes(one("x", f)), Options{pace: &k.pace, now: c.now})
		if err != nil {
			t.Fatal(err)
		}
		row := r.Rows[0]
		if row.State != Measured || row.Runs != k.runs || row.Fastest != k.low || row.Q1 != k.q1 ||
			row.Median != k.mid || row.Q3 != k.q3 {
			t.Errorf("%v: %+v", k.took, row)
		}
		if f.closed != 1 {
			t.Errorf("%v: closed %d times", k.took, f.closed)
		}
	}
}

// Runs too short for the clock are timed together, also if the last run of the warm-up was interrupted.
func TestShortRunsAreTimedTogether(t *testing.T) {
	t.Parallel()
	const short = time.Microsecond
	for _, k := range []struct {
		took []time.Duration
		warm time.Duration
	}{
		{[]time.Duration{short}, short},
		{[]time.Duration{short, short, time.Second, short}, time.Second},
	} {
		c := &clock{}
		f := &fake{clock: c, took: k.took, value: 1}
		p := pace{least: 3, most: 3, warm: k.warm, long: time.Minute, short: 20 * short}
		r, err := Run(t.Context(), fakes(one("x", f)), Options{pace: &p, now: c.now})
		if err != nil || r.Rows[0].Median != short || r.Rows[0].Runs != 60 {
			t.Errorf("%v: %+v, %v", k.took, r.Rows, err)
		}
	}
}

func TestDeviceMeasuresItself(t *testing.T) {
	t.Parallel()
	c := &clock{}
	f := &fake{clock: c, took: []time.Duration{time.Second}, value: 1, own: 3 * time.Microsecond}
	r, err := Run(t.Context(), fakes(one("x", f)), Options{pace: quiet(), now: c.now})
	// Each run takes a second in all, however little of it the device uses.
	if err != nil || r.Rows[0].Median != 3*time.Microsecond || r.Rows[0].Runs != 5 {
		t.Errorf("%+v, %v", r.Rows, err)
	}
}

func TestWrongResultIsNotTimed(t *testing.T) {
	t.Parallel()
	f := &fake{clock: &clock{}, value: 2}
	r, err := Run(t.Context(), fakes(one("x", f)), Options{pace: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	if row := r.Rows[0]; row.State != Failed || row.Note.String() != "wrong" || row.Runs != 0 || f.runs != 1 ||
		f.closed != 1 {
		t.Errorf("%+v after %d runs, closed %d times", row, f.runs, f.closed)
	}
}

// NaN and infinity never appear in the rows, because files could not represent them.
func TestRowsHoldNoNaN(t *testing.T) {
	t.Parallel()
	e := sum()
	nan := math.NaN()
	e.Variants = []Variant{{ID: "x", Device: CPU, Tolerance: e.Variants[0].Tolerance, Method: plain{
		memory: func(Case) int64 { return 0 }, operations: func(Case) float64 { return 1 },
		prepare: func(context.Context, *Input, Case) (func(context.Context) error, *Output, error) {
			return func(context.Context) error { return nil }, &Output{Sum: &nan}, nil
		}}}}
	r, err := Run(t.Context(), e, Options{pace: quiet(), Sizes: []Size{Line(8)}})
	if err != nil || r.Rows[0].State != Failed || r.Rows[0].Check != (Check{}) ||
		!strings.Contains(r.Rows[0].Note.String(), "NaN") {
		t.Errorf("%+v, %v", r.Rows, err)
	}
}

// Two results that agree with the reference where it is computed, but differ elsewhere.
func TestVariantsMustAgree(t *testing.T) {
	t.Parallel()
	e := fakes(one("x", &fake{clock: &clock{}, value: 1}), one("y", &fake{clock: &clock{}, value: 3}),
		one("z", &fake{clock: &clock{}, value: 1}))
	compared := int64(1)
	e.check = func(context.Context, *Input, Case, Variant, Output) (Check, error) {
		return Check{Compared: compared, Samples: 2}, nil
	}
	r, err := Run(t.Context(), e, Options{pace: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	if states := states(r); !slices.Equal(states, []State{Measured, Failed, Measured}) {
		t.Error(states)
	}
	// A result that was compared completely need not be compared again.
	compared = 2
	if r, err = Run(t.Context(), e, Options{pace: quiet()}); err != nil ||
		!slices.Equal(states(r), []State{Measured, Measured, Measured}) {
		t.Error(states(r), err)
	}
}

func states(r *Result) (list []State) {
	for _, row := range r.Rows {
		list = append(list, row.State)
	}
	return list
}

func TestFailures(t *testing.T) {
	t.Parallel()
	e := fakes(
		one("broken", &fake{clock: &clock{}, value: 1, failed: errors.New("no luck")}),
		one("unprepared", &fake{clock: &clock{}, prepared: errors.New("no buffer")}),
		one("small", &fake{clock: &clock{}, prepared: fmt.Errorf("device 0: %w", ErrMemory)}),
		one("fine", &fake{clock: &clock{}, value: 1}),
	)
	r, err := Run(t.Context(), e, Options{pace: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	if states := states(r); !slices.Equal(states, []State{Failed, Failed, LeftOut, Measured}) {
		t.Error(states)
	}
	if got := r.Rows[0].Note.String(); got != "no luck" {
		t.Errorf("note %q", got)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	c := &clock{}
	// At 2 s for 10 operations, 1000 operations take 200 s.
	slow := &fake{clock: c, took: []time.Duration{2 * time.Second}, value: 1, operations: 10}
	large := &fake{clock: c, value: 1, memory: 901}
	fits := &fake{clock: c, value: 1, memory: 900}
	e := fakes(one("slow", slow), one("large", large), one("fits", fits))
	r, err := Run(t.Context(), e, Options{pace: quiet(), now: c.now, Memory: 1000, Longest: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if states := states(r); !slices.Equal(states, []State{Measured, LeftOut, Measured}) {
		t.Fatal(states)
	}
	if note := r.Rows[1].Note; !strings.Contains(note.String(), "of memory") || !strings.Contains(i18n.For("ru").Sprint(note), "памяти") || large.runs > 0 {
		t.Errorf("%+v after %d runs", note, large.runs)
	}

	for n, want := range map[int64]string{1010 << 20: "1010 MiB", 1 << 30: "1 GiB", 1500 << 30: "1500 GiB",
		3 << 29: "1.5 GiB"} {
		if got := bytes(n).String(); got != want {
			t.Errorf("%d bytes: %q, want %q", n, got, want)
		}
	}

	slow.operations = 10
	v := one("slow", slow)
	growing := growingMethod{slow}
	v.Method = growing
	e = fakes(v)
	e.Grids[0].Sizes = []Size{{1, 1}, {100, 1}}
	r, err = Run(t.Context(), e, Options{pace: quiet(), now: c.now, Longest: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if got := states(r); !slices.Equal(got, []State{Measured, LeftOut}) {
		t.Fatal(got)
	}
	if note := r.Rows[1].Note.String(); note != "about 200 s for one run expected, more than the 5 s allowed" {
		t.Error(note)
	}
}

// A case that would take a GPU minutes is left out even if nothing has been measured on it.
func TestFirstCaseOfAGPU(t *testing.T) {
	t.Parallel()
	f := &fake{clock: &clock{}, value: 1, operations: 1e13}
	v := Variant{ID: "gpu", Device: GPU, Method: f}
	r, err := Run(t.Context(), fakes(v), Options{pace: quiet(), Longest: 5 * time.Second})
	if err != nil || r.Rows[0].State != LeftOut || f.runs > 0 {
		t.Errorf("%+v, %v", r.Rows, err)
	}
	f.operations = 1e12
	if r, err = Run(t.Context(), fakes(v), Options{pace: quiet(), Longest: 5 * time.Second}); err != nil ||
		r.Rows[0].State != Measured {
		t.Errorf("%+v, %v", r.Rows, err)
	}
}

// Sides too large for a list of pixels leave a case out; they are not failures.
func TestTooLongForTheOrder(t *testing.T) {
	t.Parallel()
	r, err := Run(t.Context(), traversal(), Options{pace: quiet(), Sizes: []Size{{1, 1<<16 + 1}}, Picture: grey(1, 2)})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		if row.Variant.Device == CPU && (row.State != LeftOut ||
			!strings.Contains(i18n.For("ru").Sprint(row.Note), "65536")) {
			t.Errorf("%s: %s: %s", row.Variant.ID, row.State, i18n.For("ru").Sprint(row.Note))
		}
	}
}

// A cancel does not wait for a reference that takes minutes.
func TestCancelInTheReference(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := processing.Element{Width: 4095, Height: 4095}
	in := &Input{Size: Size{4096, 4096}, U8: make([]uint8, 1<<24)}
	start := time.Now()
	morphRows(ctx, in, processing.Open, e, 0, 4096)
	meanRows(ctx, in, 2047, 0, 4096)
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("a cancelled reference took %v", d)
	}
}

type growingMethod struct{ *fake }

func (g growingMethod) Operations(c Case) float64 { return g.operations * float64(c.Size.Samples()) }

func TestCancelBetweenRepetitions(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := &fake{clock: &clock{}, value: 1}
	f := &fake{clock: &clock{}, value: 1, ran: func(n int) {
		if n == 4 {
			cancel()
		}
	}}
	last := &fake{clock: &clock{}, value: 1}
	r, err := Run(ctx, fakes(one("x", first), one("y", f), one("z", last)), Options{pace: quiet()})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if len(r.Rows) != 1 || r.Rows[0].Variant.ID != "x" || f.runs != 4 || f.closed != 1 || last.runs != 0 {
		t.Errorf("%d rows, %d runs, closed %d times; %d runs after", len(r.Rows), f.runs, f.closed, last.runs)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	var got, rows []string
	e := fakes(one("x", &fake{clock: &clock{}, value: 1}), one("y", &fake{clock: &clock{}, value: 1}),
		Variant{ID: "g", Device: GPU})
	_, err := Run(t.Context(), e, Options{pace: quiet(), Values: map[string][]string{"m": {"1", "3"}},
		Progress: func(p Progress) {
			got = append(got, fmt.Sprintf("%d/%d %s %s", p.Done, p.Total, p.Variant.ID, p.Case.Values["m"]))
			if len(rows) != p.Done {
				t.Errorf("%d rows are told of, %d are finished", len(rows), p.Done)
			}
		},
		Row: func(r Row) { rows = append(rows, fmt.Sprint(r.Variant.ID, " ", r.State)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"x measured", "y measured", "x measured", "y measured", "g needs GPU"}
	if !slices.Equal(rows, want) {
		t.Errorf("rows %q, want %q", rows, want)
	}
	if want := []string{"0/5 x 1", "1/5 y 1", "2/5 x 3", "3/5 y 3", "4/5 g 1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// provider is a device with methods for some variants.
type provider struct {
	name     string
	variants []Variant
}

func (p provider) Name() string { return p.name }
func (p provider) Variants(id string) []Variant {
	if id == "fake" {
		return p.variants
	}
	return nil
}

func TestProviderFillsAndAdds(t *testing.T) {
	t.Parallel()
	described := Variant{ID: "gpu-a", Device: GPU, Name: message.Of("described")}
	e := fakes(described, Variant{ID: "gpu-b", Device: GPU, Needs: message.Of("needs two")})
	r, err := Run(t.Context(), e, Options{pace: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	if got := states(r); !slices.Equal(got, []State{NeedsGPU, NeedsGPU}) ||
		r.Rows[0].Note.String() != "needs an NVIDIA GPU" || r.Rows[1].Note.String() != "needs two" {
		t.Errorf("%v, %+v", got, r.Rows)
	}

	p := provider{"H200", []Variant{
		{ID: "gpu-a", Name: message.Of("other"), Method: &fake{clock: &clock{}, value: 1}},
		{ID: "gpu-4", Device: GPU, Method: &fake{clock: &clock{}, value: 1}},
	}}
	r, err = Run(t.Context(), e, Options{pace: quiet(), Providers: []Provider{p}})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, row := range r.Rows {
		ids = append(ids, row.Variant.ID+" "+string(row.State))
	}
	if want := []string{"gpu-a measured", "gpu-4 measured", "gpu-b needs GPU"}; !slices.Equal(ids, want) {
		t.Errorf("%q, want %q", ids, want)
	}
	if r.Rows[0].Variant.Name.String() != "described" || !slices.Equal(r.Devices, []string{"H200"}) {
		t.Errorf("%+v, %q", r.Rows[0].Variant, r.Devices)
	}
	if e.Variants[0].Method != nil {
		t.Error("the description was changed")
	}
}

// A result names the GPUs that took part, including those that failed but not those whose variants were not requested,
// and a name twice if a variant uses two GPUs of that name.
func TestDevicesThatTookPart(t *testing.T) {
	t.Parallel()
	e := fakes(one("cpu", &fake{clock: &clock{}, value: 1}), Variant{ID: "gpu", Device: GPU})
	p := provider{"H200", []Variant{
		{ID: "gpu", Method: &fake{clock: &clock{}, value: 1}},
		{ID: "two", Device: GPU, Method: &fake{clock: &clock{}, value: 1}, GPUs: []string{"H200", "H200"}},
		{ID: "other", Device: GPU, Method: &fake{clock: &clock{}, value: 1}, GPUs: []string{"T4"}},
		{ID: "wrong", Device: GPU, Method: &fake{clock: &clock{}, value: 2}, GPUs: []string{"A100"}},
	}}
	for _, c := range []struct{ variants, want []string }{
		{[]string{"cpu"}, nil},
		{[]string{"cpu", "gpu"}, []string{"H200"}},
		{[]string{"gpu", "two", "gpu"}, []string{"H200", "H200"}},
		{[]string{"gpu", "wrong"}, []string{"H200", "A100"}},
		{[]string{"two", "other", "gpu"}, []string{"H200", "H200", "T4"}},
	} {
		r, err := Run(t.Context(), e, Options{pace: quiet(), Variants: c.variants, Providers: []Provider{p}})
		if err != nil || !slices.Equal(r.Devices, c.want) {
			t.Errorf("%q: %q, %v, want %q", c.variants, r.Devices, err, c.want)
		}
	}
}

func TestIgnoredParametersMakeNoCases(t *testing.T) {
	t.Parallel()
	v := one("x", &fake{clock: &clock{}, value: 1})
	v.Ignores = []string{"kind"}
	e := fakes(v, one("y", &fake{clock: &clock{}, value: 1}))
	e.Grids = append(e.Grids, Grid{Sizes: []Size{{1, 1}}, Values: map[string][]string{"kind": {"a", "b"}}})
	r, err := Run(t.Context(), e, Options{pace: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range r.Rows {
		got = append(got, row.Variant.ID+" "+row.Case.key())
	}
	if want := []string{"x 1×1 m=3", "y 1×1 kind=a m=3", "y 1×1 kind=b m=3"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestInputIsSharedBySameContent(t *testing.T) {
	t.Parallel()
	made := 0
	e := fakes(one("x", &fake{clock: &clock{}, value: 1}))
	e.content = []string{"kind"}
	e.input = func(_ context.Context, c Case, _ *source) (*Input, error) {
		made++
		return &Input{Size: c.Size}, nil
	}
	_, err := Run(t.Context(), e, Options{pace: quiet(), Values: map[string][]string{"m": {"3", "5"},
		"kind": {"a", "b"}}})
	if err != nil || made != 2 {
		t.Errorf("%d inputs made, want 2; %v", made, err)
	}
}

func TestQuickAndSizes(t *testing.T) {
	t.Parallel()
	e := fakes(one("x", &fake{clock: &clock{}, value: 1}))
	for _, c := range []struct {
		o    Options
		want Size
	}{
		{Options{}, Size{1, 1}},
		{Options{Quick: true}, Size{2, 1}},
		{Options{Sizes: []Size{{7, 3}}}, Size{7, 3}},
		{Options{Picture: &processing.Picture{Width: 5, Height: 4, Channels: 1, U8: make([]uint8, 20)}}, Size{5, 4}},
		{Options{Sizes: []Size{{7, 3}}, Picture: &processing.Picture{Width: 5, Height: 4, Channels: 1,
			U8: make([]uint8, 20)}}, Size{7, 3}},
	} {
		c.o.pace = quiet()
		r, err := Run(t.Context(), e, c.o)
		if err != nil || len(r.Rows) != 1 || r.Rows[0].Case.Size != c.want {
			t.Errorf("%+v, %v; want %v", r, err, c.want)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	t.Parallel()
	e := fakes(one("x", &fake{clock: &clock{}, value: 1}), one("y", &fake{clock: &clock{}, value: 1}))
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Variants: []string{"z"}}, `unknown variant "z"; choose from x, y`},
		{Options{Values: map[string][]string{"q": {"1"}}}, `unknown parameter "q"; choose from m, kind`},
		{Options{Values: map[string][]string{"kind": {"c"}}}, `unknown value of kind "c"; choose from a, b`},
		{Options{Values: map[string][]string{"m": {"4"}}}, "m=4: an odd number from 1 to 9 expected"},
		{Options{Values: map[string][]string{"m": {"11"}}}, "m=11: an odd number from 1 to 9 expected"},
		{Options{Sizes: []Size{Line(8)}}, "fake: size 8 is one-dimensional; a picture size such as 1024x768 is needed"},
	} {
		r, err := Run(t.Context(), e, c.o)
		if err == nil || err.Error() != c.want || r != nil {
			t.Errorf("%v, want %q", err, c.want)
		}
		var local message.Localizable
		if !errors.As(err, &local) {
			t.Errorf("%v cannot be translated", err)
		}
	}
	if _, err := Run(t.Context(), sum(), Options{Values: map[string][]string{"q": {"1"}}}); err == nil || err.Error() != `no parameter "q" exists` {
		t.Error(err)
	}
	if _, err := Find("slide"); err == nil || err.Error() != `unknown experiment "slide"; choose from sliding, vhgw, traversal, wavelet, sum` {
		t.Error(err)
	}
	if e, err := Find("sum"); err != nil || e.ID != "sum" {
		t.Error(err)
	}
}

func TestParseSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Size{
		"1024x768": {1024, 768}, "1024×768": {1024, 768}, "3X5": {3, 5}, "7x1": {7, 1},
		"2^20": Line(1 << 20), "2^0": Line(1), "1000": Line(1000),
		"0.3MP": {671, 447}, "18.7mp": {5296, 3531}, "100MP": {12247, 8165},
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "0x5", "5x", "5x5x5", "-5x5", "2^-1", "2^63", "2^99", "0MP", "-1MP", "MP",
		"nanMP", "1e99MP", "999999999x999999999", "1.5", "99999999999999999999"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
	for s, want := range map[Size]string{{3, 5}: "3×5", {3, 1}: "3×1", Line(1 << 20): "2^20", Line(1 << 9): "512",
		Line(1000): "1000"} {
		if got := s.String(); got != want {
			t.Errorf("%#v: %q, want %q", s, got, want)
		}
	}
}

func TestGreyOfPictures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pic  processing.Picture
		want []uint8
	}{
		{processing.Picture{Channels: 1, U8: []uint8{7, 255}}, []uint8{7, 255}},
		{processing.Picture{Channels: 3, U8: []uint8{0, 0, 255, 10, 11, 12}}, []uint8{85, 11}},
		{processing.Picture{Channels: 1, U16: []uint16{65535, 32896}}, []uint8{255, 128}},
		{processing.Picture{Channels: 1, F32: []float32{2, -1}}, []uint8{255, 0}},
		{processing.Picture{Channels: 4, U8: []uint8{0, 0, 0, 0, 255, 255, 255, 255}}, []uint8{255, 0}},
	} {
		c.pic.Width, c.pic.Height = 2, 1
		if got, err := grey8(t.Context(), &c.pic); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, %v, want %v", c.pic, got, err, c.want)
		}
	}
}

func TestInputsExtendThePictureByMirroring(t *testing.T) {
	t.Parallel()
	pic := &processing.Picture{Width: 3, Height: 2, Channels: 1, U8: []uint8{1, 2, 3, 4, 5, 6}}
	got, err := newSource(pic).plane(t.Context(), 7, 3)
	want := []uint8{1, 2, 3, 3, 2, 1, 1, 4, 5, 6, 6, 5, 4, 4, 4, 5, 6, 6, 5, 4, 4}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	line, err := newSource(pic).floats(t.Context(), Line(8))
	if err != nil || !slices.Equal(line, []float32{1, 2, 3, 4, 5, 6, 4, 5}) {
		t.Errorf("%v, %v", line, err)
	}
	if cut, err := newSource(pic).plane(t.Context(), 2, 1); err != nil || !slices.Equal(cut, []uint8{1, 2}) {
		t.Errorf("%v, %v", cut, err)
	}
}

// Every experiment's default cases are valid, each has a claim, and every text exists in both languages.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	for _, e := range All() {
		if len(e.Claims) == 0 || len(e.Variants) < 2 || len(e.Quick) == 0 {
			t.Errorf("%s: %d claims, %d variants", e.ID, len(e.Claims), len(e.Variants))
		}
		all := []message.Message{e.Name, e.Question, e.Result, e.Paper.Setup, e.Paper.Found}
		for _, g := range slices.Concat(e.Grids, e.Quick) {
			for _, s := range g.Sizes {
				if err := e.fits(s); err != nil {
					t.Error(err)
				}
			}
			for _, c := range e.cases(g) {
				for _, p := range e.Params {
					if err := p.check(c.Values[p.ID]); err != nil {
						t.Errorf("%s: %v", e.ID, err)
					}
				}
			}
			for id := range g.Values {
				if !slices.ContainsFunc(e.Params, func(p Param) bool { return p.ID == id }) {
					t.Errorf("%s: grid of an unknown parameter %s", e.ID, id)
				}
			}
		}
		seen := map[string]bool{}
		for _, v := range e.Variants {
			all = append(all, v.Name, v.Help)
			if seen[v.ID] || (v.Method == nil) != (v.Device == GPU) || !strings.HasPrefix(v.ID, string(v.Device)+"-") {
				t.Errorf("%s: variant %s on %s", e.ID, v.ID, v.Device)
			}
			seen[v.ID] = true
		}
		for _, p := range e.Params {
			all = append(all, p.Name, p.Help)
		}
		for _, c := range e.Claims {
			all = append(all, c.Text, c.missing)
		}
		all = append(all, e.Paper.Head...)
		for _, row := range e.Paper.Rows {
			all = append(all, row[0])
		}
		for _, text := range all {
			if text.IsZero() {
				t.Errorf("%s: text %q / %q", e.ID, text.String(), i18n.For("ru").Sprint(text))
			}
		}
		for _, row := range e.Paper.Table() {
			if len(row) != len(e.Paper.Head) {
				t.Errorf("%s: paper's row %q", e.ID, row)
			}
		}
	}
}

// grey returns a picture of noise.
func grey(w, h int) *processing.Picture {
	p := &processing.Picture{Width: w, Height: h, Channels: 1, U8: make([]uint8, w*h)}
	for i := range p.U8 {
		p.U8[i] = uint8(mix(uint64(i)))
	}
	return p
}

// In a small run of every experiment nothing fails, also with odd sizes.
func TestEveryExperimentRuns(t *testing.T) {
	t.Parallel()
	for _, e := range All() {
		t.Run(e.ID, func(t *testing.T) {
			o := Options{Quick: true, pace: &pace{least: 1, most: 1}, Sizes: []Size{{1, 1}, {61, 37}},
				Picture: grey(8, 8)}
			if e.shape&pictures == 0 {
				o.Sizes = []Size{Line(1), Line(1001)}
			}
			r, err := Run(t.Context(), e, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range r.Rows {
				if (row.State == Measured) != (row.Variant.Device == CPU) {
					t.Errorf("%s, %s: %s: %s", row.Variant.ID, row.Case.key(), row.State, row.Note.String())
				}
			}
			if len(r.Conclusions) != len(e.Claims) {
				t.Errorf("%d conclusions on %d claims", len(r.Conclusions), len(e.Claims))
			}
		})
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		times []time.Duration
		q     float64
		want  time.Duration
	}{
		{[]time.Duration{7}, 0.5, 7}, {[]time.Duration{7}, 0.75, 7}, {[]time.Duration{10, 20}, 0.5, 15},
		{[]time.Duration{10, 20}, 0.25, 12},
		{[]time.Duration{0, 10, 20, 30, 100}, 0.75, 30}, {[]time.Duration{0, 10, 20, 30, 100}, 1, 100},
		{[]time.Duration{0, 10, 20, 30}, 0.25, 7},
	} {
		if got := quantile(c.times, c.q); got != c.want {
			t.Errorf("quantile %g of %v is %d, want %d", c.q, c.times, got, c.want)
		}
	}
}
