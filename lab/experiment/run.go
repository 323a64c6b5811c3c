package experiment

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"maps"
	"runtime"
	"slices"
	"time"

	"blik/internal/message"
	"blik/processing"
)

// ErrMemory is wrapped by the error of Method.Prepare for a case that is too large: a device has too little memory, or
// a method has its own limit. The row is left out.
var ErrMemory = errors.New("not enough memory")

// Options determine what Run measures and for how long.
type Options struct {
	// Variants are the IDs of the variants to measure; none means all.
	Variants []string
	// Sizes replace those of the experiment's grids; none keeps them, or uses the size of Picture if there is one.
	Sizes []Size
	// Values replace the values of single parameters.
	Values map[string][]string
	// Picture, if not nil, is used as input, as 8-bit grey, cropped or mirrored to the size; otherwise the input is
	// generated.
	Picture *processing.Picture
	// Quick uses the experiment's smaller grids and fewer repetitions.
	Quick bool
	// Memory limits the bytes of input, reference and a variant together; 0 is no limit.
	Memory int64
	// Longest leaves out cases in which one run would take longer, judging by the previous cases; 0 is no limit.
	Longest time.Duration
	// Providers supply the variants of GPUs.
	Providers []Provider
	// Progress, if not nil, is called before each row, and Row with each finished row.
	Progress func(Progress)
	Row      func(Row)

	// pace and now replace the number of repetitions and the clock in tests.
	pace *pace
	now  func() time.Time
}

// Progress is the progress of a Run.
type Progress struct {
	// Done of Total rows are finished; the next is Variant in Case.
	Done, Total int
	Variant     Variant
	Case        Case
}

// State is the outcome of a row.
type State string

// The states.
const (
	// Measured: the result was checked and timed.
	Measured State = "measured"
	// LeftOut: not run; Note gives the reason.
	LeftOut State = "left out"
	// NeedsGPU: no provider has the device.
	NeedsGPU State = "needs GPU"
	// Failed: an error or a wrong result, described in Note. It was not timed.
	Failed State = "failed"
)

// Message returns the state in words.
func (s State) Message() message.Message { return message.Of(message.Text(s)).Context("state") }

// Row is one variant in one case.
type Row struct {
	Variant Variant
	Case    Case
	State   State
	Note    message.Message
	// Runs is the number of timed runs; Spread is the distribution of their times.
	Runs int
	Spread
	// Operations of one run; 0 if they are not counted.
	Operations float64
	// Check is the comparison of the measured result.
	Check Check
}

// Check is the comparison of a result with its reference.
type Check struct {
	// Compared of Samples samples were compared with the reference.
	Compared, Samples int64
	// Deviation is the largest deviation, in the unit that Experiment.Result names, and Tolerance the allowed one; 0 is
	// exact.
	Deviation, Tolerance float64
	// Error is the error of a sum relative to the exact one; nil if the experiment has none.
	Error *float64
}

// Result is the result of Run.
type Result struct {
	Experiment *Experiment
	// Rows are in the order in which they were measured.
	Rows []Row
	// Picture: the input was a picture of the user.
	Picture bool
	// Devices are the names of the GPUs that took part, including those that failed; a name appears once for each GPU.
	Devices     []string
	Conclusions []Conclusion
}

// pace determines how often a run is repeated: at least least times, then until the time enough has passed, but at most
// most times; a run of more than long only least/2 + 1 times. Runs shorter than short are timed together.
type pace struct {
	least, most               int
	enough, warm, long, short time.Duration
}

func usualPace(quick bool) pace {
	p := pace{least: 5, most: 100, enough: 100 * time.Millisecond, warm: 20 * time.Millisecond,
		long: 200 * time.Millisecond, short: 20 * time.Microsecond}
	if quick {
		p.least, p.enough, p.warm = 3, 20*time.Millisecond, 5*time.Millisecond
	}
	return p
}

// task is a row to be measured.
type task struct {
	variant Variant
	cse     Case
	// content is equal for cases with the same input.
	content string
	full    Case
}

// Run measures an experiment. For invalid options it measures nothing and returns no result. Cases that cannot be
// measured are in the rows, with the reason. After a cancel the rows so far are returned with the context's error.
func Run(ctx context.Context, e *Experiment, o Options) (*Result, error) {
	r := &runner{Options: o, experiment: e, clock: time.Now, pace: usualPace(o.Quick), seed: maphash.MakeSeed(),
		rate: map[string]float64{}}
	if o.now != nil {
		r.clock = o.now
	}
	if o.pace != nil {
		r.pace = *o.pace
	}
	tasks, err := r.plan()
	if err != nil {
		return nil, err
	}
	res := &Result{Experiment: e, Picture: o.Picture != nil}
	r.source = newSource(o.Picture)
	for i, t := range tasks {
		if o.Progress != nil {
			o.Progress(Progress{i, len(tasks), t.variant, t.cse})
		}
		row, err := r.row(ctx, t)
		if err != nil {
			return res, err
		}
		res.Rows = append(res.Rows, row)
		if row.State == Measured || row.State == Failed {
			res.Devices = union(res.Devices, row.Variant.GPUs)
		}
		if o.Row != nil {
			o.Row(row)
		}
	}
	res.Conclusions = e.conclude(res.Rows)
	return res, ctx.Err()
}

// union returns the multiset union of two lists: elements in both appear as often as in the list that has more of them.
func union(a, b []string) []string {
	left := slices.Clone(a)
	for _, name := range b {
		if i := slices.Index(left, name); i >= 0 {
			left = slices.Delete(left, i, i+1)
		} else {
			a = append(a, name)
		}
	}
	return a
}

// provided returns the variants of an experiment with the methods of the providers; those without a provider
// have none.
func (e *Experiment) provided(providers []Provider) []Variant {
	list := slices.Clone(e.Variants)
	for _, p := range providers {
		for _, v := range p.Variants(e.ID) {
			if len(v.GPUs) == 0 {
				v.GPUs = []string{p.Name()}
			}
			i := slices.IndexFunc(list, func(w Variant) bool { return w.ID == v.ID })
			if i < 0 {
				list = append(list, v)
			} else if list[i].Method == nil {
				list[i].Method, list[i].GPUs = v.Method, v.GPUs
			}
		}
	}
	return list
}

// runner is the state of one Run.
type runner struct {
	Options
	experiment *Experiment
	clock      func() time.Time
	pace       pace
	source     *source

	// The input of the previous row is kept while rows share it.
	content string
	in      *Input
	// digest is the hash of the first correct result of a case. All variants must produce the same pixels, including
	// those that the reference does not cover.
	seed     maphash.Seed
	digest   uint64
	digested string
	// rate is the time of one operation of a variant in ns, from its last measured case.
	rate map[string]float64
}

// plan lists the rows to measure, each once, with rows that share an input next to each other.
func (r *runner) plan() ([]task, error) {
	e := r.experiment
	variants, err := r.variants()
	if err != nil {
		return nil, err
	}
	if err := r.checkValues(); err != nil {
		return nil, err
	}
	sizes, err := r.sizes()
	if err != nil {
		return nil, err
	}

	grids := e.Grids
	if r.Quick {
		grids = e.Quick
	}
	var (
		tasks []task
		seen  = map[string]bool{}
	)
	for _, g := range grids {
		values := map[string][]string{}
		maps.Copy(values, g.Values)
		maps.Copy(values, r.Values)
		g.Values = values
		if len(sizes) > 0 {
			g.Sizes = sizes
		}
		for _, c := range e.cases(g) {
			content := Case{c.Size, map[string]string{}}
			for _, id := range e.content {
				content.Values[id] = c.Values[id]
			}
			for _, v := range variants {
				if v.Takes != nil && !v.Takes(c) {
					continue
				}
				t := task{variant: v, cse: c.without(v.Ignores), content: content.key(), full: c}
				if key := v.ID + " " + t.cse.key(); !seen[key] {
					seen[key] = true
					tasks = append(tasks, t)
				}
			}
		}
	}
	// A variant without a provider gets one row, not one for each of its cases.
	listed := map[string]bool{}
	tasks = slices.DeleteFunc(tasks, func(t task) bool {
		if t.variant.Method != nil {
			return false
		}
		first := !listed[t.variant.ID]
		listed[t.variant.ID] = true
		return !first
	})
	slices.SortStableFunc(tasks, func(a, b task) int {
		return cmp.Or(
			cmp.Compare(order(a), order(b)),
			cmp.Compare(a.full.Size.Samples(), b.full.Size.Samples()),
			cmp.Compare(a.content, b.content))
	})
	return tasks, nil
}

// variants returns the variants to measure, in the order of the options.
func (r *runner) variants() ([]Variant, error) {
	all := r.experiment.provided(r.Providers)
	if len(r.Options.Variants) == 0 {
		return all, nil
	}
	ids := make([]string, len(all))
	for i, v := range all {
		ids[i] = v.ID
	}
	var chosen []Variant
	for _, id := range r.Options.Variants {
		i := slices.Index(ids, id)
		if i < 0 {
			return nil, unknown("no variant %q exists", "unknown variant %q; choose from %s", id, ids)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// checkValues returns an error if the options give a value to an unknown parameter, or an invalid one.
func (r *runner) checkValues() error {
	params := r.experiment.Params
	for id, values := range r.Values {
		i := slices.IndexFunc(params, func(p Param) bool { return p.ID == id })
		if i < 0 {
			ids := make([]string, len(params))
			for i, p := range params {
				ids[i] = p.ID
			}
			return unknown("no parameter %q exists", "unknown parameter %q; choose from %s", id, ids)
		}
		for _, v := range values {
			if err := params[i].check(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// sizes returns the sizes that replace those of the grids; none keeps them.
func (r *runner) sizes() ([]Size, error) {
	e, sizes := r.experiment, r.Sizes
	if len(sizes) == 0 && r.Picture != nil {
		if e.shape&pictures != 0 {
			sizes = []Size{{r.Picture.Width, r.Picture.Height}}
		} else {
			sizes = []Size{Line(r.Picture.Width * r.Picture.Height)}
		}
	}
	for _, s := range sizes {
		if err := e.fits(s); err != nil {
			return nil, err
		}
	}
	return sizes, nil
}

// order sorts rows without a method last.
func order(t task) int {
	if t.variant.Method == nil {
		return 1
	}
	return 0
}

// row measures one variant in one case. It returns no error except the context's.
func (r *runner) row(ctx context.Context, t task) (Row, error) {
	row := Row{Variant: t.variant, Case: t.cse}
	if err := ctx.Err(); err != nil {
		return row, err
	}
	m := t.variant.Method
	if m == nil {
		row.State = NeedsGPU
		row.Note = t.variant.Requires()
		row.Case = Case{}
		return row, nil
	}
	row.Operations = m.Operations(t.cse)
	if need := r.experiment.inputBytes(t.full) + m.Memory(t.cse); r.Memory > 0 && need > r.Memory {
		row.State = LeftOut
		row.Note = message.Of("needs %s of memory, more than the %s allowed", bytes(need), bytes(r.Memory))
		return row, nil
	}
	if expected := r.expected(t, row.Operations); r.Longest > 0 && expected > r.Longest {
		row.State = LeftOut
		row.Note = message.Of("about %s for one run expected, more than the %s allowed", seconds(expected),
			seconds(r.Longest))
		return row, nil
	}
	err := r.measure(ctx, t, &row)
	switch {
	case ctx.Err() != nil:
		return row, ctx.Err()
	case errors.Is(err, ErrMemory):
		row.State, row.Note = LeftOut, textOf(err)
	case err != nil:
		// The deviation of a wrong result may be NaN; the note describes it.
		row.State, row.Note, row.Check = Failed, textOf(err), Check{}
	default:
		row.State = Measured
		if row.Operations > 0 {
			r.rate[t.variant.ID] = float64(row.Fastest) / row.Operations
		}
	}
	return row, nil
}

// expected estimates the time of a run from the variant's previous case; before the first one it assumes 1 ns per
// operation on a processor and 1 ps on a GPU.
func (r *runner) expected(t task, operations float64) time.Duration {
	rate, ok := r.rate[t.variant.ID]
	switch {
	case ok:
	case t.variant.Device == GPU:
		rate = 1e-3
	default:
		rate = 1
	}
	return time.Duration(min(rate*operations, float64(1<<62)))
}

func (r *runner) measure(ctx context.Context, t task, row *Row) error {
	if r.in == nil || r.content != t.content {
		r.in, r.digested = nil, ""
		in, err := r.experiment.input(ctx, t.full, r.source)
		if err != nil {
			return err
		}
		r.in, r.content = in, t.content
	}
	run, err := t.variant.Method.Prepare(ctx, r.in, t.cse)
	if err != nil {
		return err
	}
	err = r.repeat(ctx, run, t, row)
	return errors.Join(err, run.Close())
}

// repeat checks the first result and then times as many runs as the pace requires.
func (r *runner) repeat(ctx context.Context, run Runner, t task, row *Row) error {
	first, err := r.once(ctx, run)
	if err != nil {
		return err
	}
	out, err := run.Output(ctx)
	if err != nil {
		return err
	}
	if row.Check, err = r.experiment.check(ctx, r.in, t.full, t.variant, out); err != nil {
		return err
	}
	if err := r.checkAgreement(t, row.Check, out); err != nil {
		return err
	}
	runtime.GC()
	usual, err := r.warmUp(ctx, run, first)
	if err != nil {
		return err
	}
	batch := 1
	if _, timed := run.(Timed); !timed && usual < r.pace.short {
		batch = int(r.pace.short / max(usual, 50*time.Nanosecond))
	}
	least := r.pace.least
	if usual > r.pace.long {
		least = least/2 + 1
	}
	var (
		times []time.Duration
		spent time.Duration
	)
	for len(times) < least || len(times) < r.pace.most && spent < r.pace.enough {
		l, err := r.together(ctx, run, batch)
		if err != nil {
			return err
		}
		times = append(times, l.own)
		spent += l.elapsed
	}
	row.Runs, row.Spread = len(times)*batch, SpreadOf(times)
	return nil
}

// lap is the time of a run: own that of one computation, elapsed that of the clock. They differ for a Timed runner,
// which measures only part of a run, or repeats the computation.
type lap struct{ own, elapsed time.Duration }

// once times a single run.
func (r *runner) once(ctx context.Context, run Runner) (lap, error) {
	if err := ctx.Err(); err != nil {
		return lap{}, err
	}
	start := r.clock()
	if err := run.Run(ctx); err != nil {
		return lap{}, err
	}
	elapsed := r.clock().Sub(start)
	if timed, ok := run.(Timed); ok {
		return lap{timed.Elapsed(), elapsed}, nil
	}
	return lap{elapsed, elapsed}, nil
}

// together times n runs by one interval of the clock.
func (r *runner) together(ctx context.Context, run Runner, n int) (lap, error) {
	if n == 1 {
		return r.once(ctx, run)
	}
	start := r.clock()
	for range n {
		if err := run.Run(ctx); err != nil {
			return lap{}, err
		}
	}
	elapsed := r.clock().Sub(start)
	return lap{elapsed / time.Duration(n), elapsed}, ctx.Err()
}

// warmUp repeats runs until the pace is warm and returns the time of the shortest. Of many short runs, the last is
// often one that was interrupted, because a long run ends the loop.
func (r *runner) warmUp(ctx context.Context, run Runner, first lap) (usual time.Duration, err error) {
	usual = first.own
	l := first
	for warm := l.elapsed; warm < r.pace.warm; warm += l.elapsed {
		if l, err = r.once(ctx, run); err != nil {
			return 0, err
		}
		if usual = min(usual, l.own); l.elapsed <= 0 {
			break
		}
	}
	return usual, nil
}

// checkAgreement returns an error if pixels that the reference does not cover differ from the previous variant's.
func (r *runner) checkAgreement(t task, c Check, out Output) error {
	if out.U8 == nil || c.Compared == c.Samples {
		return nil
	}
	// Cases that differ only in parameters that the variant ignores have the same result.
	key := Case{t.full.Size, t.full.Values}.key()
	d := maphash.Bytes(r.seed, out.U8)
	if r.digested == key && d != r.digest {
		return message.Errorf(
			"wrong result: it differs from that of earlier variants where the reference was not computed")
	}
	r.digested, r.digest = key, d
	return nil
}

// Spread is the distribution of a time over repetitions.
type Spread struct{ Median, Q1, Q3, Fastest time.Duration }

// SpreadOf returns the distribution of the times; all zero if there are none.
func SpreadOf(times []time.Duration) Spread {
	if len(times) == 0 {
		return Spread{}
	}
	t := slices.Sorted(slices.Values(times))
	return Spread{Median: quantile(t, 0.5), Q1: quantile(t, 0.25), Q3: quantile(t, 0.75), Fastest: t[0]}
}

// quantile interpolates linearly between the sorted values (type 7 of Hyndman & Fan 1996).
func quantile(sorted []time.Duration, q float64) time.Duration {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + time.Duration((at-float64(i))*float64(sorted[i+1]-sorted[i]))
}

// textOf returns an error as a message.
func textOf(err error) message.Message {
	if local, ok := errors.AsType[message.Localizable](err); ok {
		return local.Message()
	}
	return message.Of("%s", err.Error())
}

func bytes(n int64) message.Message {
	v := float64(n) / (1 << 30)
	if v < 1 {
		return message.Of("%s MiB", times(v*1024))
	}
	return message.Of("%s GiB", times(v))
}

func seconds(d time.Duration) message.Message {
	if s := d.Seconds(); s < 10 {
		return message.Of("%.2g s", s)
	}
	return message.Of("%.0f s", d.Seconds())
}
