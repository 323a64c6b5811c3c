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
	"blik/lab/experiment"
	"blik/processing"
	"blik/processing/detect"
)

// Request describes what Compare measures.
type Request struct {
	// Picture is searched for glare with Params, and only in Region unless that is nil.
	Picture *processing.Picture
	Params  processing.Params
	Region  *processing.Region
	// Devices are measured one after the other, by the names that device.Open takes ("cpu", "cuda", "cuda:1"; not
	// "auto"). If it is empty, the CPU and all GPUs are measured. Speed-ups are relative to the first device that was
	// measured.
	Devices []string
	// Repeat is the number of warm detections to time on each device, at least 1.
	Repeat int
	// Before is how long the process had been running before the request, for Measurement.Start; 0 if that is not
	// wanted.
	Before time.Duration
	// Progress may be nil. It may be called on any goroutine and must return quickly.
	Progress func(Progress)
	// Open opens a device; nil means device.Open.
	Open func(ctx context.Context, name string) (Runner, error)

	// copyBytes is the size of the copies that measure the CPU's limit; 0 means hostCopyBytes. Tests use less.
	copyBytes int
}

// Runner runs jobs on a device, or on another one that it falls back to; *device.Runner implements it.
type Runner interface {
	Run(ctx context.Context, pixels int, job func(ctx context.Context,
		b processing.Backend) error) (notice *message.Message, err error)
	Close() error
}

// Progress is the progress of a comparison.
type Progress struct {
	// Device is the name of the device being measured, Doing a stage of detection or a step of the comparison.
	Device string
	Doing  message.Message
	// Done is the share of the whole, 0…1.
	Done float64
}

// Comparison is the same detection measured on several devices.
type Comparison struct {
	// Width and Height are those of the picture in pixels, Depth the bits of one of its samples.
	Width, Height, Channels, Depth int
	// Params are those of the request.
	Params processing.Params
	// Devices are in the order of the request. They include those that could not be measured.
	Devices []Measurement
	// Missing says in one sentence why no GPU was measured, if the request named no devices and none was found.
	Missing message.Message
	// Findings and Marked are the numbers of findings and of pixels that count as glare, from the first device that has
	// a result.
	Findings, Marked int
	// Differences lists the devices for which, in any run, a byte of the mask or a finding differs from the first
	// device. It is empty if all results are identical.
	Differences []Difference
}

// Measurement is what was measured on one device.
type Measurement struct {
	// Name is the name of the device: "cpu", "cuda:0". Title is the product name of the processor or GPU, if known.
	Name, Title string
	// State is experiment.Measured; experiment.NeedsGPU if the device could not be opened; or experiment.Failed if it
	// failed later. In the last case, what was measured before is still included.
	State experiment.State
	// Note says why the device was not measured, or something that the reader must know, such as that the picture was
	// processed in bands.
	Note message.Message
	// Start is the time from the start of the process to the opening of the device, as if nothing else had happened
	// between: Request.Before, plus the start of the driver for a GPU. It is 0 if Request.Before is.
	Start time.Duration
	// Open is the time to open the device.
	Open time.Duration
	// Runs is the number of warm detections that were timed; 0 if the device failed before the first.
	Runs int
	// Stages are the stages of detection, in order.
	Stages []Stage
	// Upload and Download are the copies between the memory of the host and that of the device, zero on the CPU.
	// Kernels is the sum of the stages, without these copies but with waits for the host. Total is the wall-clock time
	// of the whole detection. Rest is the remainder of Total: what runs between the stages, mostly on the host.
	Upload, Download, Kernels, Rest, Total Stage
	// Limits are the rates of plain copies on this device.
	Limits CopyRates
}

// Stage is a stage of a detection, or a sum of stages.
type Stage struct {
	Name message.Message
	// Cold is its time in the first detection after the device was opened, Warm that in the later ones.
	Cold time.Duration
	Warm experiment.Spread
	// Bytes is the least number of bytes that the stage has to move through memory, or over the bus for a copy between
	// host and device. It is the same for all devices, and 0 if nothing is counted; see type traffic.
	Bytes int64
	// Limit is the rate of a plain copy in the same memory or over the same bus, in bytes per second; 0 if unknown.
	Limit float64
}

// Share is Rate divided by Limit; 0 if either is unknown. It can exceed 1 if the data of the stage fit into the caches.
func (s Stage) Share() float64 {
	if s.Limit == 0 {
		return 0
	}
	return s.Rate() / s.Limit
}

// Rate is Bytes divided by the median time, in bytes per second; 0 if nothing is counted.
func (s Stage) Rate() float64 {
	if s.Bytes == 0 || s.Warm.Median <= 0 {
		return 0
	}
	return float64(s.Bytes) / s.Warm.Median.Seconds()
}

// Rows returns the stages in order, then upload, kernels, download, rest and total.
func (m *Measurement) Rows() []Stage {
	if len(m.Stages) == 0 {
		return nil
	}
	return append(slices.Clone(m.Stages), m.Upload, m.Kernels, m.Download, m.Rest, m.Total)
}

// CopyRates are the rates of plain copies on a device in bytes per second, the fastest of several; 0 if unknown.
type CopyRates struct {
	// Local is that of a copy within the device's own memory, counting bytes read plus bytes written. On the CPU all
	// cores copy.
	Local float64
	// Up and Down are those of copies from pinned host memory to the device and back; 0 on the CPU.
	Up, Down float64
}

// Difference describes how a result differs from that of the first device.
type Difference struct {
	// Device has a different result from Against.
	Device, Against string
	// Pixels is the number of pixels of the mask that differ. (X, Y) is the first of them in reading order; its value
	// is Got instead of Want.
	Pixels    int
	X, Y      int
	Got, Want uint8
	// Finding is the ID of the first finding that differs or exists in only one of the results; 0 if only the mask
	// differs.
	Finding int
}

// Text describes the difference in one sentence.
func (d Difference) Text() message.Message {
	if d.Pixels > 0 {
		return message.Of("The masks of %s and %s differ in %d pixels, the first at (%d, %d): %d instead of %d.",
			DeviceName(d.Device), DeviceName(d.Against), d.Pixels, d.X, d.Y, d.Got, d.Want)
	}
	return message.Of("The findings of %s and %s differ from number %d on; the masks are identical.",
		DeviceName(d.Device), DeviceName(d.Against), d.Finding)
}

// Speedup returns how many times faster a whole warm detection is on device i than on the first device that was
// measured; 0 if device i was not measured.
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

// Compare measures detection on each of the devices. If a device is missing or fails, its Measurement says so and the
// others are still measured. The error is ctx.Err(), or says what in the request is not valid.
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

// outcome is a result and the device that computed it.
type outcome struct {
	device string
	result *detect.Found
}

// meter measures one device.
type meter struct {
	Request
	name          string
	before, share float64
	// first is the result to compare others with; nil until there is one.
	first      *outcome
	difference *Difference

	result Measurement
	bytes  map[string]int64
	// names maps the English names of stages to the messages that detection reports as progress. mu guards it.
	mu    sync.Mutex
	names map[string]message.Message
	cold  run
	warm  []run
}

// run holds the times of one detection.
type run struct {
	stages []processing.StageTime
	total  time.Duration
}

// warmUp is the number of detections after the first that are not timed, because memory that the first one released is
// still being reused for the first time.
const warmUp = 1

func stepStart() message.Message {
	return message.Of("start of program and driver")
}
func stepOpen() message.Message { return message.Of("opening") }
func stepLimit() message.Message {
	return message.Of("copy limits")
}

func nameTotal() message.Message { return message.Of("total") }

// errElsewhere ends a job that the runner runs on another device than the one being measured.
var errElsewhere = errors.New("the job went on on another device")

// measure measures the device and fills the result, as far as the device gets.
func (m *meter) measure(ctx context.Context) {
	m.result = Measurement{Name: m.name, State: experiment.NeedsGPU}
	m.names, m.bytes = map[string]message.Message{}, map[string]int64{}
	m.report(stepOpen(), 0)
	// Collect garbage now, not while times are measured.
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
	// Pretend a picture of one pixel: for larger ones the runner may choose a backend that works in bands.
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

// failed records why the measurement ended, and keeps what was measured before.
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
		result *detect.Result
		cause  error
	)
	notice, err := runner.Run(ctx, m.Picture.Width*m.Picture.Height,
		func(ctx context.Context, b processing.Backend) error {
			if b.Name() == "cpu" && m.name != "cpu" {
				// The runner has fallen back to the CPU, which is not to be measured here.
				return errElsewhere
			}
			m.result.Name = b.Name()
			counted := &traffic{Backend: b, bytes: map[string]int64{}}
			start := time.Now()
			var err error
			result, err = detect.Detect(ctx, counted, m.Picture, m.Params, detect.Options{
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
		m.first = &outcome{m.result.Name, &result.Found}
	} else if m.difference == nil {
		m.difference = differ(m.result.Name, &result.Found, m.first)
	}
	return now, nil
}

// differ returns how a result differs from the first one, or nil if every byte of the mask and every finding are equal.
func differ(name string, got *detect.Found, first *outcome) *Difference {
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

// summarise computes the stages from the times.
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
