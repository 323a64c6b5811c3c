package device

import (
	"context"
	"fmt"
	"os"
	"time"

	"blik/app/settings"
	"blik/cuda/driver"
	"blik/internal/parallel"
	"blik/processing"
	"blik/processing/detect"
)

// machine gives access to the GPUs and to stored measurements of them.
type machine struct {
	gpus func() ([]Device, error)
	open func(ordinal int) (processing.Backend, error)
	// speeds is the file of measurements, or empty; program identifies this build of the program.
	speeds, program string
	// patience is how long a job waits for a GPU that is being opened.
	patience time.Duration
}

func thisMachine() machine {
	m := machine{gpus: gpus, open: openGPU, patience: 10 * time.Second}
	if path, err := settings.SpeedsPath(); err == nil {
		m.speeds = path
	}
	// Size and modification time of the program change with every build, even between builds of one version.
	if path, err := os.Executable(); err == nil {
		if info, err := os.Stat(path); err == nil {
			m.program = fmt.Sprintf("%d bytes of %s", info.Size(), info.ModTime().UTC().Format(time.RFC3339))
		}
	}
	return m
}

func (m machine) key(d Device) settings.SpeedKey {
	return settings.SpeedKey{Device: d.Title, Driver: d.Driver, Threads: parallel.Processors(), Program: m.program}
}

// Measured returns the stored measurement of "auto" for a GPU and the CPU, and whether it exists.
func (d Device) Measured() (settings.Speed, bool) {
	m := thisMachine()
	return settings.FindSpeed(m.speeds, m.key(d))
}

// opening is a GPU that is being opened.
type opening struct {
	start time.Time
	// known is closed when speed is set to the stored measurement, or nil; done is closed when the GPU is open or has
	// failed to open.
	known, done chan struct{}
	speed       *settings.Speed
	// key and took are set once the GPU is open, err if it cannot be opened.
	key  settings.SpeedKey
	took time.Duration
	err  error
}

// open opens the GPU and wakes the goroutines that wait for it.
func (r *Runner) open(ordinal int) {
	o := r.opening
	defer close(o.done)
	err := r.look(ordinal)
	close(o.known)
	var b processing.Backend
	if err == nil {
		b, err = r.machine.open(ordinal)
		o.took = time.Since(o.start)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil:
		r.why, o.err = err, err
	case r.closed:
		_ = b.Close()
	default:
		r.gpu, r.speed, r.why = b, o.speed, nil
	}
}

// look starts the driver and looks up the stored measurement of the GPU.
func (r *Runner) look(ordinal int) error {
	if !r.auto {
		return nil
	}
	found, err := r.machine.gpus()
	if err != nil {
		return err
	}
	if ordinal >= len(found) {
		return &driver.Problem{Reason: driver.NoDevice}
	}
	r.opening.key = r.machine.key(found[ordinal])
	if s, ok := settings.FindSpeed(r.machine.speeds, r.opening.key); ok {
		r.opening.speed = &s
	}
	return nil
}

// opened waits until the GPU is open or has failed to open. If ctx ends first, the runner is closed.
func (r *Runner) opened(ctx context.Context) error {
	select {
	case <-r.opening.done:
		return nil
	case <-ctx.Done():
		_ = r.Close()
		return ctx.Err()
	}
}

// choose returns the backend for a job on a picture of the given number of pixels. It waits for a GPU that is being
// opened if that is worthwhile, and measures it if no measurement is stored. With an error, the backend is the one that
// failed.
func (r *Runner) choose(ctx context.Context, pixels int) (processing.Backend, error) {
	if o := r.opening; o != nil && !r.late() {
		worth, err := o.await(ctx, pixels, r.machine.patience)
		if err != nil {
			return nil, err
		}
		if !worth {
			return r.host, nil
		}
	}
	r.mu.Lock()
	gpu, measured := r.gpu, r.speed != nil
	r.mu.Unlock()
	if r.auto && gpu != nil && !measured {
		if err := r.measure(ctx, gpu); err != nil {
			return gpu, err
		}
	}
	return r.backend(pixels), nil
}

// late reports that a job has waited for the GPU in vain and that it is still not open.
func (r *Runner) late() bool {
	select {
	case <-r.opening.done:
		return false
	default:
		return r.Reason() != nil
	}
}

// await waits until the GPU is open or has failed to open. It returns false at once if the CPU would finish the job
// sooner, and a *driver.Problem if the GPU takes too long.
func (o *opening) await(ctx context.Context, pixels int, patience time.Duration) (worth bool, err error) {
	late := time.NewTimer(patience - time.Since(o.start))
	defer late.Stop()
	for _, event := range []chan struct{}{o.known, o.done} {
		select {
		case <-event:
		default:
			if event == o.done && o.speed != nil &&
				o.speed.CPU.At(pixels) < o.speed.Open-time.Since(o.start)+o.speed.GPU.At(pixels) {
				return false, nil
			}
			select {
			case <-event:
			case <-late.C:
				return false, &driver.Problem{Reason: driver.NoAnswer,
					Detail: fmt.Sprintf("open the GPU: nothing for %v", patience)}
			case <-ctx.Done():
				return false, ctx.Err()
			}
		}
	}
	return true, nil
}

// The sides of the test pictures in pixels: small enough to take a few milliseconds each, and different enough for a
// linear fit.
const (
	smallTrial = 128
	largeTrial = 512
)

// measure measures the detection speed of GPU and CPU and stores it. The time of a correction depends on number, size
// and method of its places, not on the picture's size, so a linear fit through two trials cannot predict it.
func (r *Runner) measure(ctx context.Context, gpu processing.Backend) error {
	onGPU, err := line(ctx, gpu)
	if err != nil {
		return err
	}
	onHost, err := line(ctx, r.host)
	if err != nil {
		return err
	}
	s := settings.Speed{SpeedKey: r.opening.key, Open: r.opening.took, CPU: onHost, GPU: onGPU}
	if r.machine.speeds != "" {
		// A measurement that cannot be stored is repeated the next time.
		_ = settings.SaveSpeed(r.machine.speeds, s)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.speed = &s
	return nil
}

// line fits a line to the detection times of two pictures.
func line(ctx context.Context, b processing.Backend) (settings.Line, error) {
	var times [2]time.Duration
	for i, side := range []int{smallTrial, largeTrial} {
		pic := trialPicture(side)
		// The first run does not count: it allocates memory and loads kernels. Of the others the shortest counts,
		// because other work on the machine disturbed it least.
		for run := range 4 {
			start := time.Now()
			if _, err := detect.Detect(ctx, b, pic, processing.DefaultParams(), detect.Options{}); err != nil {
				return settings.Line{}, err
			}
			if took := time.Since(start); run == 1 || run > 1 && took < times[i] {
				times[i] = took
			}
		}
	}
	return settings.LineThrough(smallTrial*smallTrial, times[0], largeTrial*largeTrial, times[1]), nil
}

// trialPicture is a square of grained paint with a glint in every 64 × 64 pixels.
func trialPicture(side int) *processing.Picture {
	p := &processing.Picture{Width: side, Height: side, Channels: 3, U8: make([]uint8, 3*side*side)}
	grain := uint32(1)
	for i := range side * side {
		x, y := i%side, i/side
		grain = grain*1664525 + 1013904223
		v := uint8(60 + x%64 + int(grain>>28))
		if x%64 < 3 && y%64 < 3 {
			v = 255
		}
		p.U8[3*i], p.U8[3*i+1], p.U8[3*i+2] = v, v, v-v/8
	}
	return p
}
