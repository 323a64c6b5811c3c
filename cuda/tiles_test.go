//go:build cuda && (linux || windows) && amd64

package cuda

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"blik/processing"
)

// tiling draws tiles that do not overlap.
func tiling(t *rapid.T, w, h int) []processing.Tile {
	cut := func(name string, n int) []int {
		at := []int{0}
		for at[len(at)-1] < n {
			at = append(at, min(n, at[len(at)-1]+rapid.IntRange(1, 60).Draw(t, name)))
		}
		return at
	}
	xs, ys := cut("column", w), cut("row", h)
	var tiles []processing.Tile
	for j := range ys[1:] {
		for i := range xs[1:] {
			tiles = append(tiles, processing.Tile{X: xs[i], Y: ys[j], W: xs[i+1] - xs[i], H: ys[j+1] - ys[j]})
		}
	}
	return tiles
}

// tileSetting is what the operations on tiles share.
type tileSetting struct {
	tiles []processing.Tile
	state planes
	rand  *rand.Rand
}

func setting(t *rapid.T, p *pair) tileSetting {
	s := tileSetting{tiles: tiling(t, p.w, p.h), rand: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "values"), 1))}
	share := rapid.IntRange(0, 10).Draw(t, "unknown")
	state := make([]uint8, p.w*p.h)
	for i := range state {
		if s.rand.IntN(10) < share {
			state[i] = uint8(1 + s.rand.IntN(2))
		}
	}
	s.state = p.load(processing.U8, processing.Samples{U8: state})
	return s
}

func (s *tileSetting) floats(p *pair, low, high float32) planes {
	v := make([]float32, p.w*p.h)
	for i := range v {
		v[i] = low + (high-low)*s.rand.Float32()
	}
	return p.load(processing.F32, processing.Samples{F32: v})
}

func TestHarmonic(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		s := setting(t, p)
		d := s.floats(p, -1, 2)
		sweeps, omegas := make([]int, len(s.tiles)), make([]float32, len(s.tiles))
		for i := range sweeps {
			sweeps[i], omegas[i] = s.rand.IntN(150), 1+s.rand.Float32()
		}
		p.do(processing.Harmonic{Dst: d.host, State: s.state.host, Tiles: s.tiles, Sweeps: sweeps, Omegas: omegas})
		p.equal("harmonic", d)
	})
}

func TestDetail(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		s := setting(t, p)
		src, d := s.floats(p, 0, 1), p.soiled(processing.F32)
		p.do(processing.Detail{Dst: d.host, Src: src.host, State: s.state.host, Tiles: s.tiles})
		p.equal("detail", d)
	})
}

func TestSeparate(t *testing.T) {
	check(t, func(t *rapid.T, p *pair) {
		s := setting(t, p)
		n := rapid.IntRange(1, 4).Draw(t, "channels")
		var paint, seen []planes
		var host, dev, hostSeen, devSeen []processing.Plane
		for k := range n {
			paint, seen = append(paint, s.floats(p, 0, 1)), append(seen, s.floats(p, 0, 1.2))
			host, dev = append(host, paint[k].host), append(dev, paint[k].dev)
			hostSeen, devSeen = append(hostSeen, seen[k].host), append(devSeen, seen[k].dev)
		}
		light, expected := s.floats(p, 0, 0.5), s.floats(p, 0.01, 0.5)
		models := make([]processing.Separation, len(s.tiles))
		for i := range models {
			m := &models[i]
			for k := range 4 {
				for c := range 4 {
					m.Axes[k][c] = s.rand.Float32() - 0.5
				}
				m.Variance[k], m.Light[k] = 0.001+s.rand.Float32(), s.rand.Float32()
			}
			m.Noise, m.Mismatch, m.Sweeps = s.rand.Float32()/100, s.rand.Float32()/10, s.rand.IntN(90)
		}
		p.both(p.host.Do(background, processing.Separate{
			Paint: host, Light: light.host, Seen: hostSeen, Expected: expected.host, State: s.state.host,
			Tiles: s.tiles, Models: models,
		}),
			p.dev.Do(background, processing.Separate{
				Paint: dev, Light: light.dev, Seen: devSeen, Expected: expected.dev, State: s.state.dev, Tiles: s.tiles,
				Models: models,
			}))
		for k := range n {
			p.equal(fmt.Sprintf("paint %d", k), paint[k])
		}
		p.equal("light", light)
	})
}
