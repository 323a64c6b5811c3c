//go:build unix

// Command opencv measures the operations of processing/cpu and lab/cpu side by side with OpenCV's, which the program
// peer/peer.cc runs: on the same data, with the same number of threads, alternately. It prints a Markdown table with
// the ratio of the median times for each operation, type and size, and the target ratio.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"blik/internal/parallel"
	"blik/internal/simd"
	labcpu "blik/lab/cpu"
	"blik/processing"
	"blik/processing/cpu"
)

func main() {
	var o options
	flag.StringVar(&o.peer, "peer", "build/opencv-peer", "program made of peer/peer.cc")
	flag.StringVar(&o.only, "only", "", "measure only operations whose name begins so")
	flag.DurationVar(&o.time, "time", time.Second, "time for each row")
	flag.IntVar(&o.runs, "runs", 4, "how many runs of a program's turn are timed, after one that is not")
	flag.IntVar(&o.most, "most", 5300, "greatest width measured")
	flag.BoolVar(&o.processor, "processor-time", false,
		"print processor time instead of wall-clock time, for machines that are busy; only with one thread")
	flag.Parse()
	if err := run(o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "opencv:", err)
		os.Exit(1)
	}
}

type options struct {
	peer, only string
	time       time.Duration
	runs, most int
	processor  bool
}

// row is an operation of the table.
type row struct {
	name, kind string
	parameter  float64
	// target and small are the target ratios on two threads, small at 1024 × 1024; 0 without a target.
	target, small float64
	// peer is OpenCV's name of the operation if it differs.
	peer string
	run  computation
}

// computation computes an operation on planes of b.
type computation func(ctx context.Context, b *cpu.Backend, p *planes) error

// planes holds the operands, and what computes on floats without a Backend.
type planes struct {
	src, dst, dst2, float processing.Plane
	cores                 *labcpu.Cores
}

func (p *planes) meanVariance(ctx context.Context, b *cpu.Backend, radius int) error {
	src, err := b.Host(ctx, p.src)
	mean, err2 := b.Host(ctx, p.float)
	variance, err3 := b.Host(ctx, p.dst2)
	if err := errors.Join(err, err2, err3); err != nil {
		return err
	}
	w, h := p.src.Size()
	switch m, v := mean.F32, variance.F32; p.src.Kind() {
	case processing.U8:
		return labcpu.MeanVariance(ctx, p.cores, m, v, src.U8, w, h, radius)
	case processing.U16:
		return labcpu.MeanVariance(ctx, p.cores, m, v, src.U16, w, h, radius)
	default:
		return labcpu.MeanVariance(ctx, p.cores, m, v, src.F32, w, h, radius)
	}
}

// operation returns the computation of one of the program's operations.
func operation(op func(p *planes) processing.Op) computation {
	return func(ctx context.Context, b *cpu.Backend, p *planes) error { return b.Do(ctx, op(p)) }
}

// onCores returns the computation of a transform of the laboratory.
func onCores(f func(ctx context.Context, c *labcpu.Cores, dst, src []float32, w, h int) error) computation {
	return func(ctx context.Context, b *cpu.Backend, p *planes) error {
		src, err := b.Host(ctx, p.src)
		dst, err2 := b.Host(ctx, p.float)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		w, h := p.src.Size()
		return f(ctx, p.cores, dst.F32, src.F32, w, h)
	}
}

func rows() []row {
	morph := func(op processing.MorphOp, side int) computation {
		return operation(func(p *planes) processing.Op {
			return processing.Morph{Dst: p.dst, Src: p.src, Op: op, Element: processing.Square(side / 2)}
		})
	}
	wavelet := func(wave labcpu.Wavelet) computation {
		return onCores(func(ctx context.Context, c *labcpu.Cores, dst, src []float32, w, h int) error {
			return c.Transform(ctx, dst, src, w, h, wave)
		})
	}
	var list []row
	for _, kind := range []string{"u8", "u16"} {
		for _, m := range []int{9, 25, 51} {
			target, small := 0.0, 0.0
			if kind == "u8" {
				target, small = 2.5, 1.4
			}
			list = append(list, row{"mean", kind, float64(m), target, small, "",
				operation(func(p *planes) processing.Op {
					return processing.BoxMean{Dst: p.dst, Src: p.src, Radius: m / 2}
				})})
		}
	}
	for _, kind := range []string{"u8", "u16", "f32"} {
		for _, m := range []int{9, 51} {
			list = append(list, row{"mean-variance", kind, float64(m), 4, 4, "",
				func(ctx context.Context, b *cpu.Backend, p *planes) error { return p.meanVariance(ctx, b, m/2) }})
		}
	}
	for _, kind := range []string{"u8", "u16"} {
		for _, k := range []int{3, 11, 51, 101} {
			target := map[int][2]float64{3: {1.5, 1}, 11: {1.5, 1}, 51: {4, 4}, 101: {6, 6}}[k]
			list = append(list, row{"dilation", kind, float64(k), target[0], target[1], "",
				morph(processing.Dilate, k)})
		}
	}
	list = append(list, row{"erosion", "u8", 11, 1.5, 1, "", morph(processing.Erode, 11)},
		row{"opening", "u16", 25, 0, 0, "", morph(processing.Open, 25)},
		row{"gaussian", "u8", 1.6, 1.5, 1.5, "", operation(func(p *planes) processing.Op {
			return processing.Gaussian{Dst: p.dst, Src: p.src, Sigma: 1.6}
		})})
	return append(list,
		row{"sum", "f32", 0, 1.4, 1.4, "",
			onCores(func(ctx context.Context, c *labcpu.Cores, _, src []float32, _, _ int) error {
				_, err := c.Sum(ctx, src)
				return err
			})},
		row{"histogram", "u8", 0, 0, 0, "", operation(func(p *planes) processing.Op {
			return processing.Histogram{Src: p.src, Out: new([]uint64)}
		})},
		// A copy uses several threads here but only one in OpenCV.
		row{"copy", "f32", 0, 0, 0, "",
			onCores(func(_ context.Context, _ *labcpu.Cores, dst, src []float32, _, _ int) error {
				parallel.Copy(dst, src)
				return nil
			})},
		row{"haar", "f32", 0, 1 / 1.6, 1 / 1.6, "copy", wavelet(labcpu.Haar)},
		row{"d4", "f32", 0, 1 / 2.2, 1 / 2.2, "copy", wavelet(labcpu.Daubechies4)},
	)
}

// sizes returns the sizes in the table.
func sizes() [][2]int { return [][2]int{{1024, 1024}, {4096, 4096}, {5300, 3533}} }

func run(o options, w io.Writer) error {
	p, err := start(o.peer)
	if err != nil {
		return err
	}
	defer p.stop()
	clock := "wall-clock time"
	if o.processor {
		clock = "processor time"
	}
	fmt.Fprintf(w, "%s, CPU kernels %s, %s; milliseconds, Blik / OpenCV, in brackets how many times faster.\n\n",
		p.version, simd.Chosen(), clock)
	fmt.Fprintln(w, "| operation | threads | 1024 × 1024 | 4096 × 4096 | 5300 × 3533 | aim |")
	fmt.Fprintln(w, "|---|--:|--:|--:|--:|--:|")
	threads := []int{1, 2}
	if o.processor {
		threads = threads[:1]
	}
	for _, r := range rows() {
		name := fmt.Sprintf("%s %s", r.name, r.kind)
		if r.parameter > 0 {
			name += fmt.Sprintf(" %g", r.parameter)
		}
		if !strings.HasPrefix(name, o.only) {
			continue
		}
		for _, n := range threads {
			cells := []string{name, fmt.Sprint(n)}
			for _, size := range sizes() {
				if size[0] > o.most {
					cells = append(cells, "")
					continue
				}
				ours, theirs, err := measure(p, r, size[0], size[1], n, o)
				if err != nil {
					return err
				}
				cells = append(cells, fmt.Sprintf("%.2f / %.2f (%.2f ×)", ms(ours), ms(theirs),
					float64(theirs)/float64(ours)))
			}
			fmt.Fprintf(w, "| %s | %s |\n", strings.Join(cells, " | "), r.aim(n))
		}
	}
	return nil
}

// aim returns the target ratio with n threads.
func (r *row) aim(n int) string {
	switch {
	case r.target == 0:
		return ""
	case n == 1 && r.peer == "":
		return "1"
	case r.small != r.target:
		return fmt.Sprintf("%.2g (%.2g at 1024)", r.target, r.small)
	}
	return fmt.Sprintf("%.2g", r.target)
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

// noise returns the same samples as peer/peer.cc.
func noise(kind string, n int) processing.Samples {
	var s processing.Samples
	state := uint32(1)
	next := func() uint32 {
		state ^= state << 13
		state ^= state >> 17
		state ^= state << 5
		return state
	}
	for range n {
		switch v := next(); kind {
		case "u8":
			s.U8 = append(s.U8, uint8(v>>24))
		case "u16":
			s.U16 = append(s.U16, uint16(v>>16))
		default:
			s.F32 = append(s.F32, float32(v>>16)/257)
		}
	}
	return s
}

// measure runs both programs alternately and returns the medians of their times.
func measure(p *peer, r row, w, h, threads int, o options) (ours, theirs time.Duration, err error) {
	ctx := context.Background()
	b := cpu.New(cpu.Workers(threads))
	defer func() { err = errors.Join(err, b.Close()) }()
	kind := map[string]processing.Kind{"u8": processing.U8, "u16": processing.U16, "f32": processing.F32}[r.kind]
	pl := planes{cores: labcpu.New(threads)}
	for _, a := range []struct {
		to   *processing.Plane
		kind processing.Kind
	}{{&pl.src, kind}, {&pl.dst, kind}, {&pl.dst2, processing.F32}, {&pl.float, processing.F32}} {
		if *a.to, err = b.Alloc(a.kind, w, h); err != nil {
			return 0, 0, err
		}
		defer (*a.to).Release()
	}
	key := fmt.Sprint(r.kind, w*h)
	if _, ok := p.data[key]; !ok {
		p.data[key] = noise(r.kind, w*h)
	}
	if err := b.Upload(ctx, pl.src, p.data[key]); err != nil {
		return 0, 0, err
	}
	var mine, other []time.Duration
	const least = 8
	for begin := time.Now(); len(mine) < least || time.Since(begin) < o.time; {
		times, err := p.measure(r, w, h, threads, o)
		if err != nil {
			return 0, 0, err
		}
		other = append(other, times...)
		for i := range o.runs + 1 {
			used, start := processorTime(), time.Now()
			if err := r.run(ctx, b, &pl); err != nil {
				return 0, 0, err
			}
			took := time.Since(start)
			if o.processor {
				took = processorTime() - used
			}
			if i > 0 {
				mine = append(mine, took)
			}
		}
	}
	return median(mine), median(other), nil
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// peer is the running OpenCV program.
type peer struct {
	version string
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	// data holds the operands of both programs, by type and size.
	data map[string]processing.Samples
}

func start(path string) (*peer, error) {
	p := &peer{command: exec.Command(path), data: map[string]processing.Samples{}}
	p.command.Stderr = os.Stderr
	var err error
	if p.in, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	if !p.out.Scan() {
		return nil, fmt.Errorf("%s: no answer", path)
	}
	p.version = p.out.Text()
	return p, nil
}

func (p *peer) stop() {
	_ = p.in.Close()
	_ = p.command.Wait()
}

// measure returns the times of the runs of one turn.
func (p *peer) measure(r row, w, h, threads int, o options) ([]time.Duration, error) {
	name := r.name
	if r.peer != "" {
		name = r.peer
	}
	if _, err := fmt.Fprintln(p.in, name, r.kind, r.parameter, w, h, threads, o.runs); err != nil {
		return nil, err
	}
	var times []time.Duration
	for range o.runs {
		if !p.out.Scan() {
			return nil, fmt.Errorf("%s %s: no answer", name, r.kind)
		}
		var wall, processor time.Duration
		if _, err := fmt.Sscan(p.out.Text(), (*int64)(&wall), (*int64)(&processor)); err != nil {
			return nil, err
		}
		if o.processor {
			wall = processor
		}
		times = append(times, wall)
	}
	return times, nil
}
