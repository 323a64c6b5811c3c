//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"blik/cuda/driver"
	"blik/kernels"
)

// Info describes a GPU.
type Info struct {
	// Ordinal is the driver's number of the device; Name its product name.
	Ordinal int
	Name    string
	// Memory is the whole device memory in bytes.
	Memory int64
	// Capability is the compute capability, 90 for 9.0; Multiprocessors their number.
	Capability, Multiprocessors int
	// Driver is the newest CUDA version that the driver supports.
	Driver string
}

// leastCapability is the lowest compute capability for which the kernels are compiled.
const leastCapability = 50

// Devices lists the GPUs; the error is a *driver.Problem that says why there are none.
func Devices() ([]Info, error) {
	n, err := countDevices()
	if err != nil {
		return nil, err
	}
	list := make([]Info, n)
	for i := range list {
		if list[i], err = info(i); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func countDevices() (int, error) {
	if err := driver.Status(); err != nil {
		return 0, err
	}
	n, err := cu.NumDevices()
	return n, driver.Wrap(err, "count the GPUs")
}

func info(ordinal int) (Info, error) {
	fail := func(err error) (Info, error) {
		return Info{}, driver.Wrap(err, fmt.Sprintf("ask for the properties of GPU %d", ordinal))
	}
	dev, err := cu.GetDevice(ordinal)
	if err != nil {
		return fail(err)
	}
	v := Info{Ordinal: ordinal, Driver: driver.Version()}
	if v.Name, err = dev.Name(); err != nil {
		return fail(err)
	}
	v.Name = strings.TrimSpace(v.Name)
	if v.Memory, err = dev.TotalMem(); err != nil {
		return fail(err)
	}
	major, err := dev.Attribute(cu.ComputeCapabilityMajor)
	if err != nil {
		return fail(err)
	}
	minor, err := dev.Attribute(cu.ComputeCapabilityMinor)
	if err != nil {
		return fail(err)
	}
	v.Capability = 10*major + minor
	if v.Multiprocessors, err = dev.Attribute(cu.MultiprocessorCount); err != nil {
		return fail(err)
	}
	return v, nil
}

// device is a GPU. Operations take turns; each runs on the thread of the calling goroutine, to which the context is
// bound for that time. With a dedicated goroutine for the device, every operation would wait for two thread switches,
// tens of microseconds for each of the hundreds of operations of a detection.
type device struct {
	info Info

	// turn is held by the operation that uses the device and guards the fields below.
	turn   sync.Mutex
	closed bool
	// lost is the first fault; after it the device's memory and context cannot be trusted. A device that does not
	// answer is not even asked to free memory, because that call might never return.
	lost   error
	silent bool
	// patience is how long an operation waits for the device.
	patience time.Duration
	context  cu.CUContext
	// stream is used for all work; copies for concurrent uploads.
	stream, copies cu.Stream
	// home names the module of each kernel; modules and functions hold those loaded so far.
	home      map[string]string
	modules   map[string]cu.Module
	functions map[string]cu.Function
	// stage is used for uploads, little for short ones.
	stage, little staging
	// mark, if not nil, is called before and after each kernel is queued; tests time kernels with it.
	mark func()
}

// answerTime is longer than the longest operation on the slowest GPU.
const answerTime = time.Minute

// openDevice opens a device and creates its context.
func openDevice(ordinal int) (*device, error) {
	n, err := countDevices()
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= n {
		return nil, &driver.Problem{Reason: driver.NoDevice, Detail: fmt.Sprintf("GPU %d was asked for, there are %d",
			ordinal, n)}
	}
	d := &device{
		patience: answerTime, home: map[string]string{}, modules: map[string]cu.Module{},
		functions: map[string]cu.Function{},
		stage:     newStaging(), little: newLittle(),
	}
	if d.info, err = info(ordinal); err != nil {
		return nil, err
	}
	if d.info.Capability < leastCapability {
		return nil, &driver.Problem{Reason: driver.TooOld,
			Detail: fmt.Sprintf("%s has compute capability %d.%d, %d.%d is needed",
				d.info.Name, d.info.Capability/10, d.info.Capability%10, leastCapability/10, leastCapability%10)}
	}
	if err := d.start(); err != nil {
		d.close(func() {})
		return nil, err
	}
	return d, nil
}

// do runs f with the device's context on the calling thread and returns its error. After a fault every later call
// returns it.
func (d *device) do(f func() error) error {
	d.turn.Lock()
	defer d.turn.Unlock()
	switch {
	case d.closed:
		return fmt.Errorf("cuda:%d: the backend is closed", d.info.Ordinal)
	case d.lost != nil:
		return d.lost
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := d.fault(cu.SetCurrentContext(d.context), "bind the context"); err != nil {
		return err
	}
	return f()
}

// close runs f, also on a lost device, frees everything and refuses later work.
func (d *device) close(f func()) {
	d.turn.Lock()
	defer d.turn.Unlock()
	if d.closed {
		return
	}
	d.closed = true
	if d.silent {
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// After a fault the driver may refuse, which no longer matters.
	_ = cu.SetCurrentContext(d.context)
	if f(); !d.silent {
		d.stop()
	}
}

// fault keeps err if the device cannot be trusted after it, and returns it as a *driver.Problem.
func (d *device) fault(err error, doing string) error {
	if err == nil {
		return nil
	}
	err = driver.Wrap(err, doing)
	if p, ok := err.(*driver.Problem); (!ok || p.Reason != driver.NoMemory) && d.lost == nil {
		d.lost = err
	}
	return err
}

func (d *device) start() (err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	dev, err := cu.GetDevice(d.info.Ordinal)
	if err != nil {
		return d.fault(err, "open the GPU")
	}
	if d.context, err = dev.MakeContext(cu.SchedAuto); err != nil {
		return d.fault(err, "make a context")
	}
	for _, s := range []*cu.Stream{&d.stream, &d.copies} {
		if *s, err = cu.MakeStream(cu.NonBlocking); err != nil {
			return d.fault(err, "make a stream")
		}
	}
	for _, module := range kernels.Names() {
		text, err := kernels.PTX(module, d.info.Capability)
		if err != nil {
			return err
		}
		for _, kernel := range kernels.Entries(text) {
			d.home[kernel] = module
		}
	}
	return nil
}

// stop frees everything.
func (d *device) stop() {
	d.stage.close()
	d.little.close()
	for _, s := range []*cu.Stream{&d.stream, &d.copies} {
		if *s != (cu.Stream{}) {
			_ = s.Destroy()
		}
	}
	for _, m := range d.modules {
		_ = m.Unload()
	}
	clear(d.modules)
	clear(d.functions)
	if d.context != (cu.CUContext{}) {
		_ = d.context.Destroy()
	}
}

// module returns a module by name, loading it at its first use: machine code for the GPU if the program contains it,
// otherwise PTX, which the driver compiles.
func (d *device) module(name string) (cu.Module, error) {
	if m, ok := d.modules[name]; ok {
		return m, nil
	}
	code, err := kernels.Cubin(name, d.info.Capability)
	if err != nil {
		return cu.Module{}, err
	}
	load := func(image string) (cu.Module, error) {
		m, err := cu.LoadData(image)
		if err == nil {
			d.modules[name] = m
		}
		return m, err
	}
	if code != nil {
		m, err := load(string(code))
		if err != cu.InvalidImage && err != cu.NoBinaryForGpu {
			return m, d.fault(err, "load the kernels "+name)
		}
	}
	text, err := kernels.PTX(name, d.info.Capability)
	if err != nil {
		return cu.Module{}, err
	}
	m, err := load(text)
	return m, d.fault(err, "compile the kernels "+name)
}

// function returns a kernel by name.
func (d *device) function(name string) (cu.Function, error) {
	if f, ok := d.functions[name]; ok {
		return f, nil
	}
	home, ok := d.home[name]
	if !ok {
		return cu.Function{}, fmt.Errorf("cuda: there is no kernel %s", name)
	}
	m, err := d.module(home)
	if err != nil {
		return cu.Function{}, err
	}
	f, err := m.Function(name)
	if err != nil {
		return f, d.fault(err, "find the kernel "+name)
	}
	d.functions[name] = f
	return f, nil
}

// dim is the size of a grid or of a block.
type dim struct{ x, y int }

// launch queues a kernel. Every argument takes a cell of 8 bytes, from which the driver takes as many as the kernel's
// parameter has; a plane is two arguments, its memory and its pitch. shared is the dynamic shared memory of a block in
// bytes.
func (d *device) launch(name string, grid, block dim, shared int, args ...any) error {
	f, err := d.function(name)
	if err != nil {
		return err
	}
	cells := make([]uint64, 0, 2*len(args))
	for _, a := range args {
		switch v := a.(type) {
		case *plane:
			cells = append(cells, uint64(v.memory.ptr), uint64(v.pitch))
		case buffer:
			cells = append(cells, uint64(v.ptr))
		case int:
			cells = append(cells, uint64(v))
		case float32:
			cells = append(cells, uint64(math.Float32bits(v)))
		case float64:
			cells = append(cells, math.Float64bits(v))
		default:
			return fmt.Errorf("cuda: kernel %s: argument of type %T", name, a)
		}
	}
	params := make([]unsafe.Pointer, len(cells))
	for i := range cells {
		params[i] = unsafe.Pointer(&cells[i])
	}
	if d.mark != nil {
		d.mark()
		defer d.mark()
	}
	err = f.Launch(grid.x, max(grid.y, 1), 1, block.x, max(block.y, 1), 1, shared, d.stream, params)
	return d.fault(err, "start the kernel "+name)
}

// Over returns a grid of blocks of 32 × 8 threads over w × h pixels.
func Over(w, h int) (grid, block dim) {
	return dim{(w + 31) / 32, (h + 7) / 8}, dim{32, 8}
}

// Along returns a grid of blocks of 256 threads over n items.
func Along(n int) (grid, block dim) { return dim{x: (n + 255) / 256}, dim{x: 256} }

// synchronize waits for all queued work.
func (d *device) synchronize() error { return d.wait(d.stream.Query, "wait for the GPU") }

// wait polls until an event has completed, at first without pause, because most waits are short. It polls instead of
// waiting in the driver so that it can give up on a device that does not respond.
func (d *device) wait(ask func() error, doing string) error {
	const busy, pause = 2 * time.Millisecond, 50 * time.Microsecond
	var start time.Time
	for {
		err := ask()
		if err != cu.NotReady {
			return d.fault(err, doing)
		}
		if start.IsZero() {
			start = time.Now()
		}
		switch waited := time.Since(start); {
		case waited > d.patience:
			d.silent = true
			return d.fault(&driver.Problem{Reason: driver.NoAnswer,
				Detail: fmt.Sprintf("%s: nothing for %v", doing, d.patience)}, doing)
		case waited > busy:
			time.Sleep(pause)
		default:
			runtime.Gosched()
		}
	}
}

// follow makes all future work in stream later wait for the work already queued in before.
func (d *device) follow(stream, before cu.Stream) error {
	e, err := cu.MakeEvent(cu.DisableTiming)
	if err != nil {
		return d.fault(err, "make an event")
	}
	if err = e.Record(before); err == nil {
		err = stream.Wait(e, 0)
	}
	// The driver keeps the event until it has completed.
	_ = cu.DestroyEvent(&e)
	return d.fault(err, "let a stream wait")
}

// event creates an event with timing enabled.
func (d *device) event() (cu.Event, error) {
	e, err := cu.MakeEvent(cu.DefaultEvent)
	return e, d.fault(err, "make an event")
}

// zero clears memory.
func (d *device) zero(b buffer, n int64) error {
	return d.fault(cu.MemsetD8Async(b.ptr, 0, n, d.stream), "clear memory")
}
