package cli

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"blik/app/imagefile"
	"blik/lab/synth"
	"blik/processing"

	"github.com/spf13/cobra"
)

// The values of --glare in addition to the presets: a painting without glare, and glare reflected by the paint's
// relief.
const (
	noGlare     = "none"
	reliefGlare = "relief"
)

// The smallest and largest side and the most megapixels of a sample painting.
const (
	sampleMinSide = 16
	sampleMaxSide = 60000
	sampleMaxMP   = synth.MaxPixels / 1_000_000
)

// sampling is one run of `blik sample`.
type sampling struct {
	*tool
	out, glare, scene    string
	width, height, depth int
	megapixels           float64
	seed                 uint64
	clean, quiet         bool
	overwrite            bool
}

// glares lists the values of --glare.
func glares() []string { return append(synth.Presets(), reliefGlare, noGlare) }

func (t *tool) sampleCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "sample [flags]",
		Short: t.Say("Render a sample painting with glare and its exact mask"),
		Long: t.Say(`Renders a copyright-free synthetic oil painting with glare in linear light, and writes the picture
and the exact mask of the glare (FILE with _mask.png). The same seed gives the same picture.`),
		Args: t.Exactly(0),
	}
	s := &sampling{tool: t}
	f := c.Flags()
	f.StringVarP(&s.out, "output", "o", "sample.png", t.Say("write the picture to `FILE`, a PNG"))
	t.AddOverwrite(c, &s.overwrite)
	f.IntVar(&s.width, "width", 1600, t.Say("width in `pixels`"))
	f.IntVar(&s.height, "height", 1200, t.Say("height in `pixels`"))
	f.Float64Var(&s.megapixels, "megapixels", 0, t.Say("size in megapixels (`MP`) at 4:3, instead of width and height"))
	f.IntVar(&s.depth, "depth", 8, t.Say("`bits` per sample: 8 or 16"))
	f.Uint64Var(&s.seed, "seed", 1, t.Say("random `seed`"))
	f.StringVar(&s.glare, "glare", "default", t.Say("`kind` of glare: ")+strings.Join(glares(), ", "))
	f.StringVar(&s.scene, "scene", "",
		t.Say("`scene` to paint, chosen by the seed if not given: ")+strings.Join(synth.Scenes(), ", "))
	f.BoolVar(&s.clean, "clean", false, t.Say("also write the picture without glare (FILE with _clean.png)"))
	f.BoolVarP(&s.quiet, "quiet", "q", false, t.Say("print nothing but errors"))
	t.CompleteWith(c, "glare", glares())
	t.CompleteWith(c, "scene", synth.Scenes())
	c.RunE = func(c *cobra.Command, _ []string) error {
		if s.megapixels != 0 {
			if !(s.megapixels > 0 && s.megapixels <= sampleMaxMP) || f.Changed("width") || f.Changed("height") {
				return t.Usage("--megapixels must be between 0 and %d and excludes --width and --height", sampleMaxMP)
			}
			s.width, s.height = sidesOf(s.megapixels, sampleMinSide)
		}
		if err := s.check(); err != nil {
			return err
		}
		return s.run(c.Context())
	}
	return c
}

// check rejects options for which no picture can be painted.
func (s *sampling) check() error {
	switch {
	case min(s.width, s.height) < sampleMinSide || max(s.width, s.height) > sampleMaxSide:
		return s.Usage("width and height must be between %d and %d", sampleMinSide, sampleMaxSide)
	case float64(s.width)*float64(s.height) > synth.MaxPixels:
		return s.Usage("%d × %d is more than %d megapixels", s.width, s.height, sampleMaxMP)
	case s.depth != 8 && s.depth != 16:
		return s.Usage("--depth %d: must be 8 or 16", s.depth)
	case !strings.EqualFold(filepath.Ext(s.out), ".png"):
		return s.Usage("-o %s: the name must end in .png", s.out)
	case s.scene != "":
		if err := s.CheckChoice("scene", s.scene, synth.Scenes()); err != nil {
			return err
		}
	}
	return s.CheckChoice("glare", s.glare, glares())
}

// run paints the picture and writes its files.
func (s *sampling) run(ctx context.Context) error {
	stem := strings.TrimSuffix(s.out, filepath.Ext(s.out))
	written := []string{s.out}
	if s.glare != noGlare {
		written = append(written, stem+"_mask.png")
	}
	if s.clean {
		written = append(written, stem+"_clean.png")
	}
	if err := s.Free(written, s.overwrite, nil, ""); err != nil {
		return err
	}
	// The painting is made without noise and the noise is added after the glare.
	o := synth.PaintOptions{Seed: s.seed, Scene: s.scene, Noiseless: s.glare != noGlare}
	painted, err := synth.Paint(ctx, s.width, s.height, s.depth, o)
	if err != nil {
		return err
	}
	if err := s.MakeFolder(filepath.Dir(s.out)); err != nil {
		return err
	}
	picture, clean, truth := painted, painted, (*processing.Mask)(nil)
	if s.glare != noGlare {
		if picture, clean, truth, err = s.render(ctx, painted); err != nil {
			return err
		}
	}
	out := imagefile.Begin()
	defer out.Close()
	options := imagefile.WriteOptions{Overwrite: s.overwrite}
	err = out.AddPNG(ctx, s.out, options, picture)
	if err == nil && truth != nil {
		err = out.AddMask(ctx, stem+"_mask.png", options, truth)
	}
	if err == nil && s.clean {
		err = out.AddPNG(ctx, stem+"_clean.png", options, clean)
	}
	if err == nil {
		err = out.Commit(ctx, s.out)
	}
	if err != nil {
		return err
	}
	if !s.quiet {
		fmt.Fprintf(s.Stdout, "%s: %d × %d\n", strings.Join(written, ", "), s.width, s.height)
	}
	return nil
}

// sidesOf returns width and height of a 4:3 picture with the given number of megapixels, neither below least.
func sidesOf(megapixels float64, least int) (w, h int) {
	w = max(int(math.Round(math.Sqrt(megapixels*1e6*4/3))), least)
	return w, max(int(math.Round(megapixels*1e6/float64(w))), least)
}

// render returns the picture with the chosen glare on it, the same without glare, and the mask of the glare.
func (s *sampling) render(
	ctx context.Context, pic *processing.Picture,
) (lit, clean *processing.Picture, truth *processing.Mask, err error) {
	if s.glare != reliefGlare {
		glare, err := synth.Preset(s.glare)
		if err != nil {
			return nil, nil, nil, err
		}
		glare.Seed = s.seed
		lit, truth, _, err = synth.RenderGlare(ctx, pic, glare)
		return lit, pic, truth, err
	}
	o := synth.VariedRelief(s.seed)
	o.JPEGQuality = 0
	o.Truth.UnsureRise, o.Truth.UnsureShare = o.Truth.Rise, o.Truth.Share
	if lit, truth, _, err = synth.RenderRelief(ctx, pic, o); err != nil || !s.clean {
		return lit, nil, truth, err
	}
	// The lamps also shade the relief, which is no glare.
	o.Lamps, o.NoiseGain, o.NoiseRead = nil, 0, 0
	clean, _, _, err = synth.RenderRelief(ctx, pic, o)
	return lit, clean, truth, err
}
