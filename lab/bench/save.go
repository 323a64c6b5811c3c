package bench

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"

	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/lab/experiment"
	"blik/processing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// The size of plots.
const (
	plotWidth  = 16 * vg.Centimeter
	plotHeight = 11 * vg.Centimeter
)

// Save writes a result into a folder, which it creates if necessary: NAME.txt, NAME.md, NAME.csv, NAME.json, its plots
// as PNG and SVG, and the experiment's figures as PNG. Existing files are an error unless overwrite is set. Save
// returns the paths written, even with an error.
func Save(
	ctx context.Context, dir string, overwrite bool, m Machine, r *experiment.Result, tr *i18n.Printer,
) ([]string, error) {
	id := r.Experiment.ID
	plots, err := Plots(r, tr)
	if err != nil {
		return nil, err
	}
	written, err := saveTexts(ctx, dir, overwrite, []text{
		{id + ".txt", func(w io.Writer) error { return Table(w, m, r, tr) }},
		{id + ".md", func(w io.Writer) error { return markdown(w, r, tr) }},
		{id + ".csv", func(w io.Writer) error { return CSV(w, r) }},
		{id + ".json", func(w io.Writer) error { return JSON(w, m, r, tr) }},
	}, plots)
	if err != nil {
		return written, err
	}
	figures, err := r.Experiment.Figures(ctx)
	if err != nil {
		return written, err
	}
	for _, f := range figures {
		path := filepath.Join(dir, fmt.Sprintf("%s_%s.png", id, f.Name))
		pic := &processing.Picture{Width: f.W, Height: f.H, Channels: 1, U8: f.Pix}
		if err := imagefile.WritePNG(ctx, path, imagefile.WriteOptions{Overwrite: overwrite}, pic); err != nil {
			return written, err
		}
		written = append(written, path)
	}
	return written, nil
}

// Save writes a comparison into a folder, which it creates if necessary: detect.txt, detect.md, detect.csv,
// detect.json, and its plots as PNG and SVG. Existing files are an error unless overwrite is set. Save returns the
// paths written, even with an error.
func (c *Comparison) Save(
	ctx context.Context, dir string, overwrite bool, m Machine, tr *i18n.Printer,
) ([]string, error) {
	plots, err := c.Plots(tr)
	if err != nil {
		return nil, err
	}
	return saveTexts(ctx, dir, overwrite, []text{
		{"detect.txt", func(w io.Writer) error { return c.Table(w, m, tr) }},
		{"detect.md", func(w io.Writer) error { return c.markdown(w, tr) }},
		{"detect.csv", c.CSV},
		{"detect.json", func(w io.Writer) error { return c.JSON(w, m, tr) }},
	}, plots)
}

// text is a file and the function that writes it.
type text struct {
	name  string
	write func(w io.Writer) error
}

// saveTexts writes the files, and the plots as PNG and SVG, into a folder, which it creates if necessary.
func saveTexts(ctx context.Context, dir string, overwrite bool, files []text, plots []Plot) ([]string, error) {
	o := imagefile.WriteOptions{Overwrite: overwrite}
	for _, p := range plots {
		for _, format := range []string{"png", "svg"} {
			files = append(files, text{p.Name + "." + format, func(w io.Writer) error { return p.Write(w, format) }})
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	var written []string
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if err := imagefile.WriteFile(ctx, path, o, f.write); err != nil {
			return written, err
		}
		written = append(written, path)
	}
	return written, nil
}

// Write writes the plot in a format, "png" or "svg".
func (p Plot) Write(w io.Writer, format string) error {
	canvas, err := draw.NewFormattedCanvas(plotWidth, plotHeight, format)
	if err != nil {
		return fmt.Errorf("plot %s: %w", p.Name, err)
	}
	p.draw(canvas)
	var drawn bytes.Buffer
	if _, err := canvas.WriteTo(&drawn); err != nil {
		return fmt.Errorf("plot %s: %w", p.Name, err)
	}
	// Labels are placed by the widths of the plots' font. Outside Linux few systems have it, but all have one of equal
	// widths.
	_, err = w.Write(bytes.ReplaceAll(drawn.Bytes(), []byte("font-family:Liberation Serif;"),
		[]byte("font-family:'Liberation Serif','Times New Roman',Tinos,Times,serif;")))
	return err
}

// Image draws the plot as large as fits into w × h pixels, but at least at a quarter of the size that Write uses.
func (p Plot) Image(w, h int) image.Image {
	scale := min(float64(w)/plotWidth.Dots(vgimg.DefaultDPI), float64(h)/plotHeight.Dots(vgimg.DefaultDPI))
	dpi := max(int(scale*vgimg.DefaultDPI), vgimg.DefaultDPI/4)
	canvas := vgimg.NewWith(vgimg.UseWH(plotWidth, plotHeight), vgimg.UseDPI(dpi))
	p.draw(canvas)
	return canvas.Image()
}

func (p Plot) draw(canvas vg.CanvasSizer) {
	// Draw the legend separately, because inside the plot it would cover lines.
	drawn := *p.plot
	drawn.Legend = plot.NewLegend()
	whole := draw.New(canvas)
	below := p.legend.Rectangle(whole).Size().Y + vg.Points(6)
	drawn.Draw(draw.Crop(whole, 0, -vg.Points(12), below, -vg.Points(4)))
	p.legend.Draw(draw.Crop(whole, vg.Points(50), 0, vg.Points(4), 0))
}
