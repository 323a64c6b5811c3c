//go:build cuda && linux && amd64

package cuda

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"unsafe"

	"gorgonia.org/cu"

	"blik/cuda/driver"
	"blik/kernels"
)

// Info describes a GPU.
type Info struct {
	// Ordinal is the driver's number of the device; Name its maker's name.
	Ordinal int
	Name    string
	// Memory is the whole device memory in bytes.
	Memory int64
	// Capability is the compute capability, 90 for 9.0; Multiprocessors their number.
	Capability, Multiprocessors int
	// Driver is the newest CUDA that the driver is for.
	Driver string
}

// leastCapability is what the kernels are compiled for at least.
const leastCapability = 50

// Devices lists the GPUs; the error is a *driver.Problem that says why there are none.
func Devices() ([]Info, error) {
	if err := driver.Status(); err != nil {
		return nil, err
	}
	n, err := cu.NumDevices()
	if err != nil {
		return nil, driver.Wrap(err, "count the GPUs")
	}
	list := make([]Info, n)
	for i := range list {
		if list[i], err = info(i); err != nil {
			return nil, err
		}
	}
	return list, nil
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

// device is a GPU and the goroutine that owns it. Fields below work are that goroutine's alone.
type device struct {
	info Info
	work chan func()
	// closed ends the goroutine and turns later work away.
	closed chan struct{}

	// lost is the first fault; after it the device's memory and context are not to be trusted.
	lost      error
	context   cu.CUContext
	stream    cu.Stream
	modules   []cu.Module
	functions map[string]cu.Function
	// home is the module of each kernel.
	home  map[string]int
	stage staging
}

// openDevice starts the goroutine, makes a context and loads the kernels.
func openDevice(ordinal int) (*device, error) {
	if err := driver.Status(); err != nil {
		return nil, err
	}
	n, err := cu.NumDevices()
	if err != nil {
		return nil, driver.Wrap(err, "count the GPUs")
	}
	if ordinal < 0 || ordinal >= n {
		return nil, &driver.Problem{Reason: driver.NoDevice, Detail: fmt.Sprintf("GPU %d was asked for, there are %d", ordinal, n)}
	}
	d := &device{work: make(chan func()), closed: make(chan struct{}), functions: map[string]cu.Function{}, home: map[string]int{}}
	if d.info, err = info(ordinal); err != nil {
		return nil, err
	}
	if d.info.Capability < leastCapability {
		return nil, &driver.Problem{Reason: driver.TooOld, Detail: fmt.Sprintf("%s has compute capability %d.%d, %d.%d is needed",
			d.info.Name, d.info.Capability/10, d.info.Capability%10, leastCapability/10, leastCapability%10)}
	}
	go d.own()
	if err := d.do(d.start); err != nil {
		d.close(d.stop)
		return nil, err
	}
	return d, nil
}

// own runs what do sends, on the thread that the context is bound to. The thread ends with the goroutine.
func (d *device) own() {
	runtime.LockOSThread()
	for {
		select {
		case f := <-d.work:
			f()
		case <-d.closed:
			return
		}
	}
}

// do runs f on the owning goroutine and returns its error. A fault ends the device's use: every later call returns it.
func (d *device) do(f func() error) error {
	done := make(chan error, 1)
	select {
	case d.work <- func() {
		if d.lost != nil {
			done <- d.lost
			return
		}
		done <- f()
	}:
		return <-done
	case <-d.closed:
		return fmt.Errorf("cuda:%d: the backend is closed", d.info.Ordinal)
	}
}

// close runs f, also on a lost device, and ends the goroutine.
func (d *device) close(f func()) {
	done := make(chan struct{})
	d.work <- func() {
		f()
		close(done)
	}
	<-done
	close(d.closed)
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
	dev, err := cu.GetDevice(d.info.Ordinal)
	if err != nil {
		return d.fault(err, "open the GPU")
	}
	if d.context, err = dev.MakeContext(cu.SchedAuto); err != nil {
		return d.fault(err, "make a context")
	}
	if d.stream, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return d.fault(err, "make a stream")
	}
	for i, text := range kernels.PTX(d.info.Capability) {
		m, err := cu.LoadData(text)
		if err != nil {
			return d.fault(err, "load the kernels")
		}
		d.modules = append(d.modules, m)
		for _, name := range kernels.Entries(text) {
			d.home[name] = i
		}
	}
	return nil
}

// stop gives everything back; after a fault the driver may refuse, which changes nothing any more.
func (d *device) stop() {
	d.stage.close()
	if d.stream != (cu.Stream{}) {
		_ = d.stream.Destroy()
	}
	for _, m := range d.modules {
		_ = m.Unload()
	}
	d.modules = nil
	if d.context != (cu.CUContext{}) {
		_ = d.context.Destroy()
	}
}

// function returns a kernel by name.
func (d *device) function(name string) (cu.Function, error) {
	if f, ok := d.functions[name]; ok {
		return f, nil
	}
	i, ok := d.home[name]
	if !ok {
		return cu.Function{}, fmt.Errorf("cuda: there is no kernel %s", name)
	}
	f, err := d.modules[i].Function(name)
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
	err = f.Launch(grid.x, max(grid.y, 1), 1, block.x, max(block.y, 1), 1, shared, d.stream, params)
	return d.fault(err, "start the kernel "+name)
}

// over is a grid of blocks of 32 × 8 threads over w × h pixels.
func over(w, h int) (grid, block dim) {
	return dim{(w + 31) / 32, (h + 7) / 8}, dim{32, 8}
}

// along is a grid of blocks of 256 threads over n things.
func along(n int) (grid, block dim) { return dim{x: (n + 255) / 256}, dim{x: 256} }

func (d *device) synchronize() error { return d.fault(d.stream.Synchronize(), "wait for the GPU") }

// zero clears memory.
func (d *device) zero(b buffer, n int64) error {
	return d.fault(cu.MemsetD8Async(b.ptr, 0, n, d.stream), "clear memory")
}
