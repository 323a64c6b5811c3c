//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"blik/internal/test/optest"
	"blik/internal/test/testpic"
	"blik/processing"
	"blik/processing/cpu"
)

var background = context.Background()

// shared opens the first GPU once for all tests: creating a context takes longer than most of them.
var shared = sync.OnceValues(func() (*Backend, error) { return Open(0) })

// gpu returns a Backend on a GPU, or skips the test where there is none; with BLIK_REQUIRE_GPU set it fails then.
func gpu(t testing.TB) *Backend {
	t.Helper()
	b, err := shared()
	testpic.Require(t, err == nil, testpic.RequireGPU, fmt.Sprintf("a GPU: %v", err))
	t.Cleanup(func() {
		if !t.Failed() && !t.Skipped() {
			passed.Lock()
			passed.names = append(passed.names, t.Name())
			passed.Unlock()
		}
	})
	return b
}

// released fails if planes or other memory of a device are in use.
func released(t rapid.TB, b *Backend) {
	t.Helper()
	if n, bytes := b.Live(); n != 0 || bytes != 0 {
		t.Fatalf("%d planes, %d bytes are left on the device", n, bytes)
	}
}

// pair is a backend of the host and one of the device, for the same job.
type pair struct {
	t    rapid.TB
	host *cpu.Backend
	dev  *Backend
	w, h int
	live []processing.Plane
}

// planes are the same plane on both backends.
type planes struct{ host, dev processing.Plane }

// check runs a property on pictures of drawn sizes, and checks that no device memory remains in use.
func check(t *testing.T, f func(t *rapid.T, p *pair)) {
	dev := gpu(t)
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.OneOf(rapid.IntRange(1, 70), rapid.IntRange(1, 4), rapid.IntRange(71, 700))
		p := &pair{t: t, host: cpu.New(), dev: dev, w: side.Draw(t, "w"), h: side.Draw(t, "h")}
		defer p.host.Close()
		f(t, p)
		for _, l := range p.live {
			l.Release()
		}
		released(t, dev)
	})
}

func (p *pair) alloc(kind processing.Kind) planes {
	p.t.Helper()
	h, err := p.host.Alloc(kind, p.w, p.h)
	p.must(err)
	d, err := p.dev.Alloc(kind, p.w, p.h)
	p.must(err)
	p.live = append(p.live, h, d)
	return planes{h, d}
}

func (p *pair) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// soiled is a plane with content that no result has by chance.
func (p *pair) soiled(kind processing.Kind) planes {
	p.t.Helper()
	n := p.w * p.h
	s := processing.Samples{}
	switch kind {
	case processing.U8:
		s.U8 = fill[uint8](n, 0x5a)
	case processing.U16:
		s.U16 = fill[uint16](n, 0x5a5a)
	case processing.F32:
		s.F32 = fill[float32](n, -12345)
	}
	return p.load(kind, s)
}

func fill[T any](n int, v T) []T {
	s := make([]T, n)
	for i := range s {
		s[i] = v
	}
	return s
}

func (p *pair) load(kind processing.Kind, s processing.Samples) planes {
	p.t.Helper()
	q := p.alloc(kind)
	p.must(p.host.Upload(background, q.host, s))
	p.must(p.dev.Upload(background, q.dev, s))
	return q
}

// drawn is a plane of drawn content.
func (p *pair) drawn(t *rapid.T, kind processing.Kind, name string) planes {
	t.Helper()
	n := p.w * p.h
	switch kind {
	case processing.U8:
		return p.load(kind, processing.Samples{U8: noise[uint8](t, name, n, math.MaxUint8)})
	case processing.U16:
		return p.load(kind, processing.Samples{U16: noise[uint16](t, name, n, math.MaxUint16)})
	}
	s := make([]float32, n)
	for i, v := range noise[uint16](t, name, n, math.MaxUint16) {
		s[i] = float32(v)/257 - 50
	}
	return p.load(kind, processing.Samples{F32: s})
}

// noise draws n samples up to most: random ones, runs of both extremes, all alike, or few that are not 0.
func noise[T uint8 | uint16 | uint32](t *rapid.T, name string, n int, most uint64) []T {
	kind := rapid.SampledFrom([]string{"random", "runs", "white", "black", "sparse"}).Draw(t, name)
	seed := rapid.Uint64().Draw(t, name+" seed") | 1
	next := func() uint64 {
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		return seed * 2685821657736338717 >> 16
	}
	s := make([]T, n)
	run, value := uint64(0), uint64(0)
	for i := range s {
		switch kind {
		case "random":
			value = next() % (most + 1)
		case "runs":
			if run == 0 {
				run, value = next()%9+1, []uint64{0, most, next() % (most + 1)}[next()%3]
			}
			run--
		case "white":
			value = most
		case "sparse":
			value = 0
			if next()%16 == 0 {
				value = most - next()%(most/2)
			}
		}
		s[i] = T(value)
	}
	return s
}

// do carries out an operation, given with the host's planes, on both backends; both must succeed.
func (p *pair) do(op processing.Op) {
	p.t.Helper()
	p.must(p.host.Do(background, op))
	p.must(p.dev.Do(background, processing.Bind(op, func(h processing.Plane) processing.Plane {
		return p.live[slices.Index(p.live, h)+1]
	})))
}

// both runs an operation on both backends; both must succeed.
func (p *pair) both(host, dev error) {
	p.t.Helper()
	p.must(host)
	p.must(dev)
}

// equal compares a plane on both backends, bit for bit except the sign of zero and the payload of NaN.
func (p *pair) equal(what string, q planes) {
	p.t.Helper()
	h, err := p.host.Host(background, q.host)
	p.must(err)
	d, err := p.dev.Host(background, q.dev)
	p.must(err)
	same(p.t, what, p.w, d.U8, h.U8)
	same(p.t, what, p.w, d.U16, h.U16)
	same(p.t, what, p.w, d.F32, h.F32)
}

func same[T uint8 | uint16 | uint32 | float32](t rapid.TB, what string, w int, got, want []T) {
	t.Helper()
	optest.Same(t, what, w, got, want)
}
