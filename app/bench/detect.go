package bench

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"time"

	"blik/app/device"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/experiment"
)

// Request describes what Compare measures.
type Request struct {
	// Picture is what glare is searched on, with Params and, if not nil, in Region.
	Picture *processing.Picture
	Params  processing.Params
	Region  *processing.Region
	// Devices are measured one after the other, by the names that device.Open takes ("cpu", "cuda", "cuda:1"; not
	// "auto"); without any, the CPU and all GPUs. The speed-up of the others is relative to the first.
	Devices []string
	// Repeat is the number of warm detections that are timed on each device, at least 1.
	Repeat int
	// Before is how long the process had been running before the request, if the time from its start is to be reported;
	// else 0.
	Before time.Duration
	// Progress may be nil. It may be called from any goroutine and must return at once.
	Progress func(Progress)
	// Open opens a device; nil is device.Open.
	Open func(ctx context.Context, name string) (Runner, error)

	// copyBytes are copied to find the CPU's limit, 0 is hostCopyBytes; tests take less.
	copyBytes int
}

// Runner runs jobs on a device, which it may change for another; *device.Runner is one.
type Runner interface {
	Run(ctx context.Context, pixels int, job func(ctx context.Context,
		b processing.Backend) error) (notice *message.Message, err error)
	Close() error
}

// Progress is the progress of a comparison.
type Progress struct {
	// Device is the name of the device that is measured, and Doing what it does: a stage of detection, or one of the
	// comparison's own steps.
	Device string
	Doing  message.Message
	// Done is the share of the whole, 0…1.
	Done float64
}

// Comparison is one detection measured on several devices.
type Comparison struct {
	// Width and Height are those of the picture in pixels, Depth the bits of one of its samples.
	Width, Height, Channels, Depth int
	// Params are those asked for.
	Params processing.Params
	// Devices are in the order asked for, also those that could not be measured.
	Devices []Measurement
	// Missing says in one sentence why no GPU was measured, where no devices were named and none was found.
	Missing message.Message
	// Findings and Marked are the number of findings and of pixels of the mask that count as glare, on the first device
	// that has a result.
	Findings, Marked int
	// Differences are the devices whose result is not the one of the first device in every byte of the mask and in
	// every finding, in any run. It is empty where all results are the same.
	Differences []Difference
}

// Measurement is what was measured on one device.
type Measurement struct {
	// Name is the device's own: "cpu", "cuda:0"; Title the maker's name of the processor or of the GPU, if known.
	Name, Title string
	// State is experiment.Measured, experiment.NeedsGPU where the device could not be opened, or experiment.Failed
	// where it failed before the end; what was measured before that is still here.
	State experiment.State
	// Note says why it was not measured, or what else has to be known, such as that the picture was worked on in bands.
	Note message.Message
	// Start is the time from the start of the process until it would have opened the device had it been the first thing
	// to do: Request.Before, and for a GPU the start of the driver; 0 where that is not reported.
	Start time.Duration
	// Open is the time to open the device.
	Open time.Duration
	// Runs is the number of warm detections that were timed; 0 where the device failed before the first.
	Runs int
	// Stages are those of detection in their order.
	Stages []Stage
	// Upload and Download are the copies between the memory of the host and the device's; on the CPU there are none.
	// Kernels is the sum of the stages, which the copies are not part of, but waits for the host are. Rest is what of
	// the total is none of these: what runs between the stages, mostly on the host. Total is the wall clock around the
	// whole detection.
	Upload, Download, Kernels, Rest, Total Stage
	// Limits are the rates of plain copies on this device.
	Limits CopyRates
}

// Stage is a part of a detection, or a sum of parts.
type Stage struct {
	Name message.Message
	// Cold is the time in the first detection after the device was opened, Warm that of the later ones.
	Cold time.Duration
	Warm experiment.Spread
	// Bytes is the least that the stage has to move through memory, or for a copy between host and device through the
	// bus; the same for all devices, 0 where nothing is counted. See traffic.go for what is.
	Bytes int64
	// Limit is the rate of a plain copy where those bytes are, in bytes per second; 0 if unknown.
	Limit float64
}

// Share is the part of the limit that Rate is; 0 where either is not known. It can exceed 1 where a processor's caches
// hold what the stage works on.
func (s Stage) Share() float64 {
	if s.Limit == 0 {
		return 0
	}
	return s.Rate() / s.Limit
}

// Rate is the number of bytes a second that the stage reached at its median time; 0 where nothing is counted.
func (s Stage) Rate() float64 {
	if s.Bytes == 0 || s.Warm.Median <= 0 {
		return 0
	}
	return float64(s.Bytes) / s.Warm.Median.Seconds()
}

// Rows are the stages in their order, then upload, kernels, download, rest and total.
func (m *Measurement) Rows() []Stage {
	if len(m.Stages) == 0 {
		return nil
	}
	return append(slices.Clone(m.Stages), m.Upload, m.Kernels, m.Download, m.Rest, m.Total)
}

// CopyRates are the rates of plain copies on a device in bytes a second, the fastest of several; 0 where not known.
type CopyRates struct {
	// Local is that of a copy within the device's own memory, bytes read and bytes written together. On the CPU it is
	// made by all cores.
	Local float64
	// Up and Down are those from pinned host memory to the device and back; 0 on the CPU.
	Up, Down float64
}

// Difference describes how a result differs from that of the first device.
type Difference struct {
	// Device has another result than Against.
	Device, Against string
	// Pixels is the number of pixels of the mask that differ; (X, Y) is the first of them in reading order, where the
	// mask has Got instead of Want.
	Pixels    int
	X, Y      int
	Got, Want uint8
	// Finding is the ID of the first finding that differs or that only one of the results has; 0 where only the mask
	// differs.
	Finding int
}

// Text is the difference in one sentence.
func (d Difference) Text() message.Message {
	if d.Pixels > 0 {
		return message.Of("The masks of %s and %s differ in %d pixels, the first at (%d, %d): %d instead of %d.",
			d.Device, d.Against, d.Pixels, d.X, d.Y, d.Got, d.Want)
	}
	return message.Of("The findings of %s and %s differ from number %d on; the masks are identical.", d.Device,
		d.Against, d.Finding)
}

// Speedup is how many times as fast a whole warm detection is on device i as on the first device that was measured; 0
// where it was not measured there.
func (c *Comparison) Speedup(i int) float64 {
	if list := c.measured(); len(list) > 0 {
		return ratio(list[0].Total, c.Devices[i].Total)
	}
	return 0
}

func ratio(base, of Stage) float64 {
	if base.Warm.Median <= 0 || of.Warm.Median <= 0 {
		return 0
	}
	return float64(base.Warm.Median) / float64(of.Warm.Median)
}

// Compare measures detection on each of the devices. The Measurement of a device that is missing or fails says so, and
// the others are measured all the same. The error is the context's, or that of a picture, of
// parameters or of a region that are not valid.
func Compare(ctx context.Context, r Request) (*Comparison, error) {
	if r.Repeat < 1 {
		return nil, fmt.Errorf("%d repetitions: must be at least 1", r.Repeat)
	}
	if r.Picture == nil {
		return nil, errors.New("no picture given")
	}
	if err := r.Picture.Validate(); err != nil {
		return nil, err
	}
	if err := r.Params.Validate(); err != nil {
		return nil, err
	}
	if r.Region != nil {
		if err := r.Region.Validate(r.Picture.Width, r.Picture.Height); err != nil {
			return nil, err
		}
	}
	if r.Open == nil {
		r.Open = func(ctx context.Context, name string) (Runner, error) { return device.Open(ctx, name) }
	}
	c := &Comparison{Width: r.Picture.Width, Height: r.Picture.Height, Channels: r.Picture.Channels,
		Depth: r.Picture.Depth(), Params: r.Params}
	asked := time.Now()
	found, why := device.List()
	listed := time.Since(asked)
	names := r.Devices
	if len(names) == 0 {
		for _, d := range found {
			names = append(names, d.Name)
		}
		if why != nil {
			c.Missing = device.Explain(why)
		}
	}
	var first *outcome
	for i, name := range names {
		m := &meter{Request: r, name: name, before: float64(i) / float64(len(names)), share: 1 / float64(len(names)),
			first: first}
		m.measure(ctx)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.result.Title = title(m.result.Name, found)
		if m.result.Start = r.Before; r.Before > 0 && name != "cpu" {
			m.result.Start += listed
		}
		c.Devices = append(c.Devices, m.result)
		if m.difference != nil {
			c.Differences = append(c.Differences, *m.difference)
		}
		first = m.first
	}
	if first != nil {
		c.Findings, c.Marked = len(first.result.Findings), first.result.Mask.Area()
	}
	return c, nil
}

func title(name string, found []device.Device) string {
	if name == "cpu" {
		return processorName()
	}
	for _, d := range found {
		if d.Name == name {
			return d.Title
		}
	}
	return ""
}

// outcome is a result and the device that has it.
type outcome struct {
	device string
	result *processing.Result
}

// meter measures one device.
type meter struct {
	Request
	name          string
	before, share float64
	// first is what the results are compared with; nil until there is one.
	first      *outcome
	difference *Difference

	result Measurement
	bytes  map[string]int64
	// names are the stages' names by their English, as detection reports them with its progress.
	mu    sync.Mutex
	names map[string]message.Message
	cold  run
	warm  []run
}

// run is the times of one detection.
type run struct {
	stages []processing.StageTime
	total  time.Duration
}

// warmUp detections after the first are not timed: memory that the first has given back finds its place.
const warmUp = 1

func stepStart() message.Message {
	return message.Of("start of program and driver")
}
func stepOpen() message.Message { return message.Of("opening") }
func stepLimit() message.Message {
	return message.Of("copy limits")
}

func nameTotal() message.Message { return message.Of("total") }

// errElsewhere ends a job that the runner has brought to another device than the one that is measured.
var errElsewhere = errors.New("the job went on on another device")

// measure fills the result, as far as the device comes.
func (m *meter) measure(ctx context.Context) {
	m.result = Measurement{Name: m.name, State: experiment.NeedsGPU}
	m.names, m.bytes = map[string]message.Message{}, map[string]int64{}
	m.report(stepOpen(), 0)
	// What was left over before should not be collected while this is timed.
	runtime.GC()
	start := time.Now()
	runner, err := m.Open(ctx, m.name)
	if err != nil {
		m.result.Note = m.explain(err)
		return
	}
	m.result.Open = time.Since(start)
	defer runner.Close()
	m.result.State = experiment.Measured

	steps := float64(1 + warmUp + m.Repeat + 1)
	for i := range 1 + warmUp + m.Repeat {
		now, err := m.detect(ctx, runner, float64(i)/steps, 1/steps)
		if err != nil {
			m.failed(err)
			return
		}
		switch {
		case i == 0:
			m.cold = now
		case i > warmUp:
			m.warm = append(m.warm, now)
		}
	}
	m.summarise()
	m.report(stepLimit(), (steps-1)/steps)
	// A picture of one pixel is worked on by the device itself, whatever is done with those that are too large for it.
	if _, err := runner.Run(ctx, 1, func(ctx context.Context, b processing.Backend) (err error) {
		m.result.Limits, err = copyRates(ctx, b, cmp.Or(m.copyBytes, hostCopyBytes))
		return err
	}); err != nil {
		m.failed(err)
		return
	}
	r := &m.result
	for i := range r.Stages {
		r.Stages[i].Limit = r.Limits.Local
	}
	r.Kernels.Limit, r.Upload.Limit, r.Download.Limit = r.Limits.Local, r.Limits.Up, r.Limits.Down
}

// failed keeps what was measured so far beside the reason of the end.
func (m *meter) failed(err error) {
	m.result.State, m.result.Note = experiment.Failed, m.explain(err)
	if len(m.result.Stages) == 0 && m.cold.total > 0 {
		m.summarise()
	}
}

func (m *meter) explain(err error) message.Message {
	if m.name != "cpu" {
		return device.Explain(err)
	}
	return message.Of("%s", err)
}

func (m *meter) report(doing message.Message, done float64) {
	if m.Progress != nil {
		m.Progress(Progress{Device: m.name, Doing: doing, Done: min(m.before+m.share*done, 1)})
	}
}

// detect times one detection and compares its result with the first one.
func (m *meter) detect(ctx context.Context, runner Runner, before, share float64) (run, error) {
	var (
		now    run
		result *processing.Result
		cause  error
	)
	notice, err := runner.Run(ctx, m.Picture.Width*m.Picture.Height,
		func(ctx context.Context, b processing.Backend) error {
			if b.Name() == "cpu" && m.name != "cpu" {
				// The runner does on the CPU what the device could not, which is not what is measured here.
				return errElsewhere
			}
			m.result.Name = b.Name()
			counted := &traffic{Backend: b, bytes: map[string]int64{}}
			start := time.Now()
			var err error
			result, err = processing.Detect(ctx, counted, m.Picture, m.Params, processing.Options{
				Region: m.Region, Progress: func(stage message.Message, done float64) {
					m.mu.Lock()
					m.names[stage.String()] = stage
					m.mu.Unlock()
					m.report(stage, before+share*done)
				}})
			now.total = time.Since(start)
			if err != nil {
				cause = err
				return err
			}
			now.stages, m.bytes, cause = result.Timings, counted.bytes, nil
			return nil
		})
	if cause != nil {
		return now, cause
	}
	if err != nil {
		return now, err
	}
	if notice != nil {
		m.result.Note = *notice
	}
	if m.first == nil {
		m.first = &outcome{m.result.Name, result}
	} else if m.difference == nil {
		m.difference = differ(m.result.Name, result, m.first)
	}
	return now, nil
}

// differ returns nil where a result is the first one in every byte of the mask and in every finding.
func differ(name string, got *processing.Result, first *outcome) *Difference {
	want := first.result
	d := Difference{Device: name, Against: first.device}
	if !bytes.Equal(got.Mask.Pix, want.Mask.Pix) {
		for i, v := range got.Mask.Pix {
			if w := want.Mask.Pix[i]; v != w {
				if d.Pixels == 0 {
					d.X, d.Y, d.Got, d.Want = i%got.Mask.Width, i/got.Mask.Width, v, w
				}
				d.Pixels++
			}
		}
	}
	n := min(len(got.Findings), len(want.Findings))
	for i := range n {
		if !reflect.DeepEqual(got.Findings[i], want.Findings[i]) {
			d.Finding = i + 1
			break
		}
	}
	if d.Finding == 0 && len(got.Findings) != len(want.Findings) {
		d.Finding = n + 1
	}
	if d.Pixels == 0 && d.Finding == 0 {
		return nil
	}
	return &d
}

// summarise makes the stages of the times.
func (m *meter) summarise() {
	r := &m.result
	r.Runs = len(m.warm)
	stage := func(name message.Message, of func(run) time.Duration) Stage {
		return Stage{Name: name, Cold: of(m.cold), Warm: spread(m.warm, of), Bytes: m.bytes[name.String()]}
	}
	named := func(name string) func(run) time.Duration {
		return func(v run) time.Duration {
			for _, s := range v.stages {
				if s.Name == name {
					return s.Time
				}
			}
			return 0
		}
	}
	kernels := func(v run) (sum time.Duration) {
		for _, s := range v.stages {
			if s.Name != stageUpload && s.Name != stageDownload {
				sum += s.Time
			}
		}
		return sum
	}
	r.Kernels = stage(message.Of("kernels"), kernels)
	for _, s := range m.cold.stages {
		if s.Name == stageUpload || s.Name == stageDownload {
			continue
		}
		name, ok := m.names[s.Name]
		if !ok {
			name = message.Of("%s", s.Name)
		}
		v := stage(name, named(s.Name))
		r.Stages = append(r.Stages, v)
		r.Kernels.Bytes += v.Bytes
	}
	r.Upload = stage(message.Of(stageUpload), named(stageUpload))
	r.Download = stage(message.Of(stageDownload), named(stageDownload))
	r.Rest = stage(message.Of("rest"), func(v run) time.Duration {
		return max(v.total-kernels(v)-named(stageUpload)(v)-named(stageDownload)(v), 0)
	})
	r.Total = stage(nameTotal(), func(v run) time.Duration { return v.total })
}

func spread(runs []run, of func(run) time.Duration) experiment.Spread {
	times := make([]time.Duration, len(runs))
	for i, v := range runs {
		times[i] = of(v)
	}
	return experiment.SpreadOf(times)
}
