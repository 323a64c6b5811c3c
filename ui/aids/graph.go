package aids

import (
	"image"
	"image/color"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"blik/app/colour"
	"blik/ui/xwidget"
)

// Graph draws a histogram with a logarithmic scale: bins as columns, those of a part of the picture as a line,
// thresholds as vertical lines, and a colour scale below.
type Graph struct {
	raster *xwidget.Raster
	bins   histogram
}

// histogram is the content of a graph.
type histogram struct {
	// all and part have the same number of bins; part may be nil.
	all, part []uint64
	// marks are the positions of thresholds as shares of the width.
	marks []float64
	// scale colours the columns; nil for a single colour.
	scale *colour.Scale
}

// GraphWidth is the width of histograms, in Fyne units.
const GraphWidth = 224

// graphHeight is the height of a graph, scaleHeight that of its colour scale, in Fyne units.
const graphHeight, scaleHeight = 62, 10

// NewGraph returns an empty graph.
func NewGraph() *Graph {
	g := &Graph{}
	g.raster = xwidget.NewRaster(GraphWidth, graphHeight, g.draw)
	return g
}

// Object returns what shows it.
func (g *Graph) Object() fyne.CanvasObject { return g.raster }

// Set shows another histogram.
func (g *Graph) Set(all, part []uint64, marks []float64, scale *colour.Scale) {
	g.bins = histogram{all, part, marks, scale}
	g.raster.Redraw()
}

func (g *Graph) draw(w, h int) image.Image {
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	strip := 0
	if g.bins.scale != nil {
		strip = h * scaleHeight / graphHeight
	}
	g.bins.draw(dst, strip, theme.Color(theme.ColorNameForeground), theme.Color(theme.ColorNameInputBackground))
	return dst
}

// draw draws the histogram; strip is the height of the colour scale in pixels.
func (b *histogram) draw(dst *image.RGBA, strip int, ink, ground color.Color) {
	w, h := dst.Rect.Dx(), dst.Rect.Dy()-strip
	most := uint64(1)
	for _, n := range b.all {
		most = max(most, n)
	}
	height := func(n uint64) int {
		return int(math.Ceil(math.Log1p(float64(n)) / math.Log1p(float64(most)) * float64(h)))
	}
	// A column of pixels shows the largest of the bins that it covers.
	column := func(bins []uint64, x int) (n uint64) {
		if len(bins) == 0 {
			return 0
		}
		first := x * len(bins) / w
		for _, v := range bins[first:max((x+1)*len(bins)/w, first+1)] {
			n = max(n, v)
		}
		return n
	}
	before := h
	for x := range w {
		c := faint(ink, ground, 0.5)
		if b.scale != nil {
			c = b.scale[x*255/max(w-1, 1)]
		}
		top := h - height(column(b.all, x))
		for y := range h + strip {
			switch {
			case y < top:
				dst.Set(x, y, ground)
			default:
				dst.Set(x, y, c)
			}
		}
		if b.part == nil {
			continue
		}
		line := h - height(column(b.part, x))
		for y := min(line, before, h-1); y <= min(max(line, before), h-1); y++ {
			dst.Set(x, y, ink)
		}
		before = line
	}
	for _, m := range b.marks {
		x := int(m * float64(w))
		if x < 0 || x >= w {
			continue
		}
		for y := range h + strip {
			// Dashes of two colours are visible on any background.
			dst.Set(x, y, [2]color.Color{color.Black, color.RGBA{255, 210, 0, 255}}[y/3%2])
		}
	}
}

// faint mixes two colours.
func faint(a, b color.Color, share float64) color.RGBA {
	p, q := color.RGBAModel.Convert(a).(color.RGBA), color.RGBAModel.Convert(b).(color.RGBA)
	mix := func(u, v uint8) uint8 { return uint8(math.Round(share*float64(u) + (1-share)*float64(v))) }
	return color.RGBA{mix(p.R, q.R), mix(p.G, q.G), mix(p.B, q.B), 255}
}
