package experiment

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"blik/internal/message"
)

// Experiment describes a question and the ways to answer it.
type Experiment struct {
	// ID is the name on the command line.
	ID             string
	Name, Question message.Message
	Paper          Paper
	// Result describes what every variant computes, and how exactly.
	Result message.Message
	Params []Param
	// Grids are the cases measured by default, Quick the smaller set for a first look.
	Grids, Quick []Grid
	Variants     []Variant
	Claims       []Claim
	// Axis is the parameter on the horizontal axis of the plot of the times; empty for the number of samples.
	Axis string
	// Speedup: the speed-up over the first variant is also plotted.
	Speedup bool

	// shape restricts the sizes.
	shape shape
	// content names the parameters that the input depends on, in addition to its size.
	content []string
	input   func(ctx context.Context, c Case, src *source) (*Input, error)
	// inputBytes returns the memory of input and reference.
	inputBytes func(c Case) int64
	check      func(ctx context.Context, in *Input, c Case, v Variant, out Output) (Check, error)
	// figures makes pictures that demonstrate the operation; nil if there are none.
	figures func(ctx context.Context) ([]Figure, error)
}

// Paper holds the original measurements.
type Paper struct {
	Setup message.Message
	// Head and Rows are the paper's figures; may be empty.
	Head []message.Message
	Rows [][]message.Message
	// Found is the conclusion of the paper.
	Found message.Message
}

// Table returns head and rows; nothing if the paper has no figures.
func (p Paper) Table() [][]message.Message {
	if len(p.Rows) == 0 {
		return nil
	}
	return append([][]message.Message{p.Head}, p.Rows...)
}

// paperRow is a row of figures that differ between languages only in the decimal separator.
func paperRow(name message.Text, figures ...message.Figures) []message.Message {
	row := []message.Message{message.Of(name)}
	for _, f := range figures {
		row = append(row, message.Of("%s", f))
	}
	return row
}

// Device is the kind of device that a variant runs on.
type Device string

// The devices.
const (
	CPU Device = "cpu"
	GPU Device = "gpu"
)

// Variant describes one way to compute the result of an experiment.
type Variant struct {
	// ID is unique within the experiment.
	ID         string
	Device     Device
	Name, Help message.Message
	// Ignores names the parameters that do not affect the variant; its cases have no value for them.
	Ignores []string
	// Takes reports whether the variant can compute a case; nil for all of them.
	Takes func(c Case) bool
	// Paper returns the time that the paper measured in a case, 0 if it has none; may be nil.
	Paper func(c Case) time.Duration
	// Tolerance returns the allowed deviation in a case if that depends on the variant; otherwise nil.
	Tolerance func(c Case) float64
	// Needs describes the requirement of a variant on a GPU; empty means one NVIDIA GPU.
	Needs message.Message
	// GPUs are the names of the GPUs that Method uses; if a provider omits them, it is the provider's own.
	GPUs []string
	// Method is the implementation; nil for a described variant whose device no provider has.
	Method Method
}

// Requires returns Needs or its default; empty for the CPU.
func (v Variant) Requires() message.Message {
	if v.Device == GPU && v.Needs.IsZero() {
		return message.Of("needs an NVIDIA GPU")
	}
	return v.Needs
}

// Method is the implementation of a variant.
type Method interface {
	// Memory returns the number of bytes of host memory that a Run of the case uses in addition to its input.
	Memory(c Case) int64
	// Operations returns the number of elementary operations of one run, in the experiment's own unit.
	Operations(c Case) float64
	// Prepare does everything that is not timed: buffers, index lists, transfers. For a case that is too large, it
	// returns an error that wraps ErrMemory.
	Prepare(ctx context.Context, in *Input, c Case) (Runner, error)
}

// Runner is a Method prepared for one input. It is used by one goroutine.
type Runner interface {
	// Run computes the result once, independently of earlier runs, and returns when it is complete. It returns the
	// context's error soon after a cancel.
	Run(ctx context.Context) error
	// Output returns the result of the last Run. It is read-only and valid until the next one.
	Output(ctx context.Context) (Output, error)
	// Close releases the resources of Prepare.
	Close() error
}

// Timed is a Runner that measures its own time, for instance by events of a device.
type Timed interface {
	// Elapsed returns the time of one computation of the last Run, which may have computed the result several times
	// where once is too short for the clock.
	Elapsed() time.Duration
}

// Provider supplies the methods for a device that this package does not use itself.
type Provider interface {
	// Name names the device for the results: "NVIDIA H200".
	Name() string
	// Variants returns the variants of an experiment that the provider can compute. One with the ID of a described
	// variant supplies the Method of that variant, unless an earlier provider has; any other is added to the list.
	Variants(experimentID string) []Variant
}

// Output is a result in host memory; exactly one field is set.
type Output struct {
	U8  []uint8
	F32 []float32
	Sum *float64
}

// Input is the read-only input of the variants of a case: 8-bit pixels or floats, rows without padding.
type Input struct {
	Size Size
	U8   []uint8
	F32  []float32

	// Data shared by checks and variants is cached for the next ones.
	exact    exactSums
	known    referenceRows
	extended []float32
	defined  definedCoefficients
}

// Figure is a grey picture with a title.
type Figure struct {
	// Name is suitable as a file name.
	Name  string
	Title message.Message
	W, H  int
	Pix   []uint8
}

// Figures returns the pictures that demonstrate the experiment's operation, if there are any.
func (e *Experiment) Figures(ctx context.Context) ([]Figure, error) {
	if e.figures == nil {
		return nil, ctx.Err()
	}
	return e.figures(ctx)
}

// All returns the experiments.
func All() []*Experiment {
	return []*Experiment{sliding(), vhgw(), traversal(), wavelet(), sum()}
}

// Find returns the experiment with the given ID; the error lists the known ones.
func Find(id string) (*Experiment, error) {
	all := All()
	ids := make([]string, len(all))
	for i, e := range all {
		if e.ID == id {
			return e, nil
		}
		ids[i] = e.ID
	}
	return nil, unknown("no experiment %q exists", "unknown experiment %q; choose from %s", id, ids)
}

// unknown returns the error for an unknown ID, which lists the known ones.
func unknown(none, others message.Text, id string, known []string) error {
	if len(known) == 0 {
		return message.Errorf(none, id)
	}
	return message.Errorf(others, id, strings.Join(known, ", "))
}

// Size is the size of an input: W × H pixels, or a line of W samples if H is 0.
type Size struct{ W, H int }

// Line returns the size of a line of n samples.
func Line(n int) Size { return Size{W: n} }

// Samples returns the number of samples.
func (s Size) Samples() int { return s.W * max(s.H, 1) }

// String writes a picture as 1024×768, a line as 2^20 or 1000.
func (s Size) String() string {
	switch {
	case s.H > 0:
		return fmt.Sprintf("%d×%d", s.W, s.H)
	case s.W >= 1024 && s.W&(s.W-1) == 0:
		return fmt.Sprintf("2^%d", log2(s.W))
	}
	return strconv.Itoa(s.W)
}

// log2 returns the smallest k with 2^k ≥ n.
func log2(n int) (k int) {
	for 1<<k < n {
		k++
	}
	return k
}

// maxSamples bounds sizes so that their product with the bytes per sample cannot overflow.
const maxSamples = 1 << 36

// ParseSize reads 1024x768 or 1024×768, 18.7MP (a picture of 3:2), 2^20 or 1000 (a line).
func ParseSize(text string) (Size, error) {
	bad := message.Errorf("size %q: expected as 1024x768, 18.7MP, 2^20 or 1000", text)
	lower := strings.ToLower(strings.TrimSpace(text))
	if mp, ok := strings.CutSuffix(lower, "mp"); ok {
		v, err := strconv.ParseFloat(strings.TrimSpace(mp), 64)
		if err != nil || !(v > 0 && v <= maxSamples/1e6) {
			return Size{}, bad
		}
		return megapixels(v), nil
	}
	if power, ok := strings.CutPrefix(lower, "2^"); ok {
		k, err := strconv.Atoi(power)
		if err != nil || k < 0 || 1<<min(k, 62) > maxSamples {
			return Size{}, bad
		}
		return Line(1 << k), nil
	}
	// Also accepts the Cyrillic letter, which looks like the Latin one.
	sides := strings.Split(strings.NewReplacer("×", "x", "\u0445", "x").Replace(lower), "x")
	var n [2]int
	if len(sides) > 2 {
		return Size{}, bad
	}
	for i, side := range sides {
		v, err := strconv.Atoi(side)
		if err != nil || v < 1 {
			return Size{}, bad
		}
		n[i] = v
	}
	s := Size{n[0], n[1]}
	if n[0] > maxSamples/max(n[1], 1) {
		return Size{}, bad
	}
	return s, nil
}

// megapixels returns a picture of 3:2, the sides of a full-frame sensor.
func megapixels(mp float64) Size {
	w := max(int(math.Sqrt(mp*1e6*1.5)+0.5), 1)
	return Size{w, max(int(mp*1e6/float64(w)+0.5), 1)}
}

// shape describes the sizes that an experiment accepts.
type shape uint8

const (
	pictures shape = 1 << iota
	lines
)

// fits returns an error for an unsuitable size, nil for a suitable one.
func (e *Experiment) fits(s Size) error {
	switch {
	case s.H == 0 && e.shape&lines == 0:
		return message.Errorf("%s: size %s is one-dimensional; a picture size such as 1024x768 is needed", e.ID, s)
	case s.H > 0 && e.shape&pictures == 0:
		return message.Errorf("%s: size %s is a picture size; a number of values such as 2^20 is needed", e.ID, s)
	}
	return nil
}

// Param is a parameter of a case.
type Param struct {
	ID         string
	Name, Help message.Message
	// Values are the choices, or sensible values of a number.
	Values []string
	// Number, if not nil, allows any whole number within its bounds.
	Number *Number
}

// Number bounds the values of a parameter, both ends included.
type Number struct {
	Min, Max int
	Odd      bool
}

// check returns an error for an invalid value, nil for a valid one.
func (p Param) check(value string) error {
	if p.Number == nil {
		if slices.Contains(p.Values, value) {
			return nil
		}
		return message.Errorf("unknown value of %s %q; choose from %s", p.ID, value, strings.Join(p.Values, ", "))
	}
	n, err := strconv.Atoi(value)
	if err == nil && n >= p.Number.Min && n <= p.Number.Max && (!p.Number.Odd || n%2 == 1) {
		return nil
	}
	format := message.Text("%s=%s: a whole number from %d to %d expected")
	if p.Number.Odd {
		format = "%s=%s: an odd number from %d to %d expected"
	}
	return message.Errorf(format, p.ID, value, p.Number.Min, p.Number.Max)
}

// Grid stands for all combinations of its sizes and values. A parameter that it does not name has its first value.
type Grid struct {
	Sizes  []Size
	Values map[string][]string
}

// Case is one setting to be measured.
type Case struct {
	Size   Size
	Values map[string]string
}

// Int returns the value of a numeric parameter, which Run has checked.
func (c Case) Int(param string) int {
	n, _ := strconv.Atoi(c.Values[param])
	return n
}

// key is equal for equal cases.
func (c Case) key() string {
	var b strings.Builder
	b.WriteString(c.Size.String())
	for _, id := range slices.Sorted(maps.Keys(c.Values)) {
		fmt.Fprintf(&b, " %s=%s", id, c.Values[id])
	}
	return b.String()
}

// without returns the case without some of its values.
func (c Case) without(params []string) Case {
	left := maps.Clone(c.Values)
	for _, p := range params {
		delete(left, p)
	}
	return Case{c.Size, left}
}

// cases returns the combinations of a grid in order, sizes outermost and the first parameter next.
func (e *Experiment) cases(g Grid) []Case {
	var all []Case
	for _, s := range g.Sizes {
		some := []Case{{Size: s, Values: map[string]string{}}}
		for _, p := range e.Params {
			values := g.Values[p.ID]
			if len(values) == 0 {
				values = p.Values[:1]
			}
			var more []Case
			for _, c := range some {
				for _, v := range values {
					set := maps.Clone(c.Values)
					set[p.ID] = v
					more = append(more, Case{s, set})
				}
			}
			some = more
		}
		all = append(all, some...)
	}
	return all
}
