//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"blik/cuda/driver"
	"blik/internal/test/testpic"

	"blik/processing"
	"blik/processing/network"
)

// link is a layer of a generated model.
type link struct {
	from          []int
	kind          network.Kind
	out, dilation int
}

// drawnModel is a model with the given layers and random weights, which use most of the range of activations.
func drawnModel(t *rapid.T, links []link) *network.Model {
	seed := rapid.Uint64().Draw(t, "weights") | 1
	next := func() uint64 {
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		return seed * 2685821657736338717 >> 16
	}
	m := &network.Model{}
	for _, k := range links {
		l := network.Layer{From: k.from, Kind: k.kind, Out: k.out, Dilation: max(k.dilation, 1), Resolution: 1 << 20}
		for _, from := range k.from {
			if from == network.Input {
				l.In += network.Inputs
				l.Resolution = 1
			} else {
				l.In += m.Layers[from].Out
				l.Resolution = min(l.Resolution, m.Layers[from].Resolution)
			}
		}
		if l.Kind == network.Pool {
			l.Out, l.Resolution = l.In, 2*l.Resolution
			m.Layers = append(m.Layers, l)
			continue
		}
		l.Weights = make([]int8, l.In*l.Out*l.Kind.Side()*l.Kind.Side())
		for i := range l.Weights {
			l.Weights[i] = int8(next()%255) - 127
		}
		for range l.Out {
			l.Bias = append(l.Bias, int32(next()%4096)-1024)
			l.Shift = append(l.Shift, uint8(6+next()%6))
		}
		m.Layers = append(m.Layers, l)
	}
	return m
}

// contexts are the layers of a network like the program's, of any widths.
func contexts(widths ...int) (links []link) {
	add := func(kind network.Kind, out, dilation int, from ...int) int {
		links = append(links, link{from, kind, out, dilation})
		return len(links) - 1
	}
	last, deepest := network.Input, len(widths)-1
	var levels []int
	for k, w := range widths {
		if k > 0 {
			last = add(network.Pool, 0, 1, last)
		}
		last = add(network.Conv3, w, 1, last)
		last = add(network.Conv3, w, 1+k/max(deepest, 1), last)
		levels = append(levels, last)
	}
	for k := deepest - 1; k >= 0; k-- {
		last = add(network.Conv1, widths[k], 1, levels[k], last)
		last = add(network.Conv3, widths[k], 1, last)
	}
	add(network.Conv1, network.Outputs, 1, last)
	return links
}

// networks are graphs that use every kernel, and graphs that the kernels for tensor cores do not support.
var networks = map[string][]link{
	"16 to 64":                contexts(16, 32, 48, 64, 64),
	"12 to 64":                contexts(12, 24, 40, 64, 64),
	"32 and 16":               contexts(32, 16),
	"48 and 24":               contexts(48, 24),
	"odd numbers of channels": contexts(13, 45, 2),
	"wide":                    contexts(48, 96),
	"far": {
		{[]int{network.Input}, network.Conv3, 24, 33},
		{[]int{0}, network.Conv3, 40, 5},
		{[]int{1}, network.Conv3, network.Outputs, 2},
	},
	"three by three of two resolutions": {
		{[]int{network.Input}, network.Pool, 0, 1},
		{[]int{0}, network.Conv3, 16, 1},
		{[]int{1}, network.Pool, 0, 1},
		{[]int{2, 0}, network.Conv3, 24, 1},
		{[]int{network.Input, 2, 3}, network.Conv1, 20, 1},
		{[]int{4, 0, 1, 2, network.Input}, network.Conv1, 7, 1},
		{[]int{5}, network.Conv3, network.Outputs, 1},
	},
	"logits alone": {{[]int{network.Input}, network.Conv1, network.Outputs, 1}},
	"the last layer's source is read twice": {
		{[]int{network.Input}, network.Conv3, 24, 1},
		{[]int{0}, network.Conv3, 16, 1},
		{[]int{1}, network.Pool, 0, 1},
		{[]int{1}, network.Conv1, network.Outputs, 1},
	},
}

func TestGlints(t *testing.T) {
	gpu(t)
	m, err := network.Default()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("default", func(t *testing.T) { glintsAlike(t, func(*rapid.T) *network.Model { return m }) })
	for name, links := range networks {
		t.Run(name, func(t *testing.T) {
			glintsAlike(t, func(t *rapid.T) *network.Model { return drawnModel(t, links) })
		})
	}
}

// glintsAlike compares the network on both backends, with tensor cores and without.
func glintsAlike(t *testing.T, model func(t *rapid.T) *network.Model) {
	check(t, func(t *rapid.T, p *pair) {
		// Networks without tensor cores are slow, especially wide ones.
		p.w, p.h = min(p.w, 300), min(p.h, 100)
		if testing.Short() {
			p.w, p.h = min(p.w, 90), min(p.h, 40)
		}
		m := model(t)
		r, g, b := p.drawn(t, processing.U8, "red"), p.drawn(t, processing.U8, "green"), p.drawn(t, processing.U8, "blue")
		d, k := p.soiled(processing.U8), p.soiled(processing.U8)
		op := processing.Glints{Dst: d.host, Kinds: k.host, Red: r.host, Green: g.host, Blue: b.host, Model: m,
			Offset: rapid.SampledFrom([]int{0, 32, 255}).Draw(t, "offset")}
		index := rapid.SliceOfN(rapid.Uint32Range(0, uint32(p.w*p.h-1)), 0, 9).Draw(t, "index")
		var want []uint8
		if m.Hidden() != 0 {
			var err error
			want, err = processing.Evaluate(background, p.host, processing.GlintChannels{
				Red: r.host, Green: g.host, Blue: b.host, Model: m, Index: index,
			})
			p.must(err)
		}
		strip := rapid.SampledFrom([]int{p.w * p.h / 2, networkStrip}).Draw(t, "strip")
		p.must(p.host.Do(background, op))
		onDevice := processing.Glints{Dst: d.dev, Kinds: k.dev, Red: r.dev, Green: g.dev, Blue: b.dev, Model: m,
			Offset: op.Offset}
		for _, tensors := range []bool{true, false} {
			p.dev.network = newNetworkProgram(m, tensors && p.dev.device.info.Capability >= tensorCapability)
			p.dev.network.strip = strip
			p.must(p.dev.Upload(background, d.dev, processing.Samples{U8: fill[uint8](p.w*p.h, 0x5a)}))
			p.must(p.dev.Upload(background, k.dev, processing.Samples{U8: fill[uint8](p.w*p.h, 0x5a)}))
			p.must(p.dev.Do(background, onDevice))
			p.equal(fmt.Sprintf("logits, tensor cores: %v", tensors), d)
			p.equal(fmt.Sprintf("kinds, tensor cores: %v", tensors), k)
			logits := onDevice
			logits.Kinds = nil
			p.must(p.dev.Upload(background, d.dev, processing.Samples{U8: fill[uint8](p.w*p.h, 0x5a)}))
			p.must(p.dev.Do(background, logits))
			p.equal(fmt.Sprintf("logits alone, tensor cores: %v", tensors), d)
			if m.Hidden() == 0 {
				continue
			}
			channels, err := processing.Evaluate(background, p.dev, processing.GlintChannels{
				Red: r.dev, Green: g.dev, Blue: b.dev, Model: m, Index: index,
			})
			p.must(err)
			if !bytes.Equal(channels, want) {
				t.Fatalf("the last hidden layer, tensor cores: %v: %v on the GPU, %v on the CPU", tensors, channels, want)
			}
		}
		p.dev.network = nil
	})
}

// networkTimes are the times of the kernels of the network on a picture, in the order of their launch, and their names.
func networkTimes(b *Backend, op processing.Glints) (names []string, ms []float64, err error) {
	ms, err = timedKernels(b.device, func() error { return b.Do(background, op) })
	if err != nil {
		return nil, nil, err
	}
	names = []string{"networkInput"}
	for i := range b.network.steps {
		if s := &b.network.steps[i]; !s.follows {
			kernel := s.kernel
			if s.layer.Kind == network.Pool {
				kernel = "networkPool"
			}
			names = append(names, fmt.Sprintf("%d: %s", i, cmp.Or(kernel, "any GPU's")))
		}
	}
	return names, ms, nil
}

// TestGlintsTimes prints the times of the network's kernels on 18.7 megapixels, and those of other shapes of its blocks.
func TestGlintsTimes(t *testing.T) {
	b := gpu(t)
	testpic.Long(t)
	// The widths of the program's network, whatever the one that is embedded.
	m := rapid.Custom(func(t *rapid.T) *network.Model {
		return drawnModel(t, contexts(16, 32, 48, 64, 64))
	}).Example(1)
	const w, h = 5300, 3533
	pic := glaring(t, w, h, 8, 11, 1)
	u8 := func() processing.Plane { return planeOn(t, b, processing.U8, w, h) }
	d, k, red, green, blue := u8(), u8(), u8(), u8(), u8()
	if err := b.Do(background, processing.Luminance{
		Red: red, Green: green, Blue: blue, Picture: pic, Tables: pic.Tables(),
	}); err != nil {
		t.Fatal(err)
	}
	op := processing.Glints{Dst: d, Kinds: k, Red: red, Green: green, Blue: blue, Model: m}
	whole, err := milliseconds(b, func() error { return b.Do(background, op) })
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("all of it: %.3f ms", whole)
	// median of the times of each kernel
	times := func() (names []string, median []float64) {
		const repeats = 9
		var all [repeats][]float64
		for i := range all {
			if names, all[i], err = networkTimes(b, op); err != nil {
				t.Fatal(err)
			}
		}
		for k := range names {
			var ms []float64
			for i := range all {
				ms = append(ms, all[i][k])
			}
			slices.Sort(ms)
			median = append(median, ms[repeats/2])
		}
		return names, median
	}
	names, ms := times()
	for k := range names {
		t.Logf("%-28s %.3f ms", names[k], ms[k])
	}
	for _, shape := range []shape{
		{4, 4, 3}, {4, 8, 3}, {4, 8, 4}, {4, 16, 2}, {4, 16, 3}, {4, 16, 4}, {6, 8, 2}, {6, 12, 2}, {8, 4, 3}, {8, 8, 2},
		{8, 8, 3}, {8, 16, 1}, {8, 16, 2}, {8, 16, 3}, {8, 16, 4}, {8, 16, 6}, {8, 16, 8},
	} {
		b.network = newNetworkProgram(m, b.device.info.Capability >= tensorCapability)
		for i := range b.network.steps {
			s := &b.network.steps[i]
			fits := s.layer.Kind == network.Conv1 || shape.shared(s) <= MaxShared
			if s.kernel != "" && !s.follows && shape.warps%s.parts == 0 && fits {
				s.shape = shape
			}
		}
		_, other := times()
		line := ""
		for k := range other {
			line += fmt.Sprintf(" %.3f", other[k])
		}
		t.Logf("%+v: %s", shape, line)
	}
	b.network = nil
}

// sparse lowers the logits of a model so that about one in 200 pixels of a picture is above 0.
func sparse(t *testing.T, b *Backend, m *network.Model, op processing.Glints) {
	t.Helper()
	op.Model, op.Kinds, op.Offset = m, nil, 255
	last := &m.Layers[len(m.Layers)-1]
	last.Shift[0] = 12
	for range 200 {
		if err := b.Do(background, op); err != nil {
			t.Fatal(err)
		}
		host, err := b.Host(background, op.Dst)
		if err != nil {
			t.Fatal(err)
		}
		above := 0
		for _, v := range host.U8 {
			if v == 255 {
				above++
			}
		}
		if above < len(host.U8)/200 {
			return
		}
		last.Bias[0] -= 1 << last.Shift[0]
		b.network = nil
	}
	t.Fatal("too many pixels are above 0")
}

// TestFindGlintsTimes prints how long the network's whole path takes for pictures of 18.7 megapixels in host memory, up
// to spans and measures there.
func TestFindGlintsTimes(t *testing.T) {
	b := gpu(t)
	testpic.Long(t)
	const w, h = 5300, 3533
	var p [5]processing.Plane
	for i := range p {
		p[i] = planeOn(t, b, processing.U8, w, h)
	}
	m := rapid.Custom(func(t *rapid.T) *network.Model {
		return drawnModel(t, contexts(16, 32, 48, 64, 64))
	}).Example(1)
	for _, depth := range []int{8, 16} {
		pic := glaring(t, w, h, depth, 11, 1)
		l := processing.Luminance{Red: p[0], Green: p[1], Blue: p[2], Picture: pic, Tables: pic.Tables()}
		g := processing.Glints{Dst: p[3], Kinds: p[4], Red: p[0], Green: p[1], Blue: p[2], Model: m}
		if depth == 8 {
			if err := b.Do(background, l); err != nil {
				t.Fatal(err)
			}
			sparse(t, b, m, g)
		}
		const repeats = 15
		var all []float64
		var spans []processing.Span
		var props []processing.GlintProps
		for range repeats {
			start := time.Now()
			var err error
			if spans, props, err = b.FindGlints(background, l, g, "network"); err != nil {
				t.Fatal(err)
			}
			all = append(all, float64(time.Since(start).Microseconds())/1000)
		}
		t.Logf("%d bits: first %.2f ms, median %.2f, least %.2f; %d spans of %d components", depth, all[0],
			slices.Sorted(slices.Values(all))[repeats/2], slices.Min(all), len(spans), len(props))
		b.Timings()
		if _, _, err := b.FindGlints(background, l, g, "network"); err != nil {
			t.Fatal(err)
		}
		for _, s := range b.Timings() {
			t.Logf("  %-10s %.3f ms", s.Name, s.Time.Seconds()*1000)
		}
	}
}

// planeOn is a plane that is released after the test.
func planeOn(t *testing.T, b *Backend, kind processing.Kind, w, h int) processing.Plane {
	t.Helper()
	p, err := b.Alloc(kind, w, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Release)
	return p
}

// The network stops between two kernels, and reports too little memory; it then holds nothing and continues to work.
func TestGlintsGivesUp(t *testing.T) {
	dev := gpu(t)
	m, err := network.Default()
	if err != nil {
		t.Fatal(err)
	}
	p := newPair(t, dev, 129, 67)
	defer p.close()
	r, g, b := p.load(processing.U8, random(processing.U8, p.w*p.h)), p.soiled(processing.U8), p.soiled(processing.U8)
	d := p.soiled(processing.U8)
	op := processing.Glints{Dst: d.host, Red: r.host, Green: g.host, Blue: b.host, Model: m, Offset: 32}
	onDevice := processing.Glints{Dst: d.dev, Red: r.dev, Green: g.dev, Blue: b.dev, Model: m, Offset: 32}
	planes, used := dev.Live()
	alike := func(when string) {
		t.Helper()
		if n, size := dev.Live(); n != planes || size != used {
			t.Errorf("%s: %d planes, %d bytes are held, %d and %d before", when, n, size, planes, used)
		}
	}
	p.do(op)
	p.equal("before", d)
	for kernels := 1; kernels <= 5; kernels++ {
		ctx, cancel := context.WithCancel(background)
		marks := 0
		dev.device.mark = func() {
			if marks++; marks == 2*kernels {
				cancel()
			}
		}
		err := dev.Do(ctx, onDevice)
		dev.device.mark = nil
		if cancel(); !errors.Is(err, context.Canceled) || marks != 2*kernels {
			t.Errorf("cancelled after %d kernels: %v, %d marks", kernels, err, marks)
		}
		alike("cancelled")
	}
	dev.pool.mu.Lock()
	dev.pool.trim()
	dev.pool.limit = dev.pool.held + 200<<10
	dev.pool.mu.Unlock()
	err = dev.Do(background, onDevice)
	dev.pool.limit = 0
	var problem *driver.Problem
	if !errors.As(err, &problem) || problem.Reason != driver.NoMemory {
		t.Errorf("with too little memory: %v", err)
	}
	alike("too little memory")
	p.do(op)
	p.equal("afterwards", d)
}
