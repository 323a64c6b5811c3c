package cli

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"blik/app/imagefile"
	"blik/processing/synth"

	"github.com/spf13/cobra"
)

// noGlare is the glare preset for a painting without.
const noGlare = "none"

// The smallest and largest side and the most pixels of a sample painting.
const (
	sampleMinSide = 16
	sampleMaxSide = 60000
	sampleMaxMP   = synth.MaxPixels / 1_000_000
)

func (p *program) sampleCommand() *cobra.Command {
	glares := append(synth.Presets(), noGlare)
	c := &cobra.Command{
		Use:   "sample [flags]",
		Short: p.say("Paint a sample painting with glare and its true mask"),
		Long: p.say(`Paints a copyright-free oil painting, renders glare on it in linear light, and writes the picture
and the exact mask of the glare (FILE with _mask.png). The same seed gives the same picture.`),
		Args: p.exactly(0),
	}
	var (
		out, glare, scene    string
		width, height, depth int
		megapixels           float64
		seed                 uint64
		clean, quiet         bool
	)
	f := c.Flags()
	f.StringVarP(&out, "output", "o", "sample.png", p.say("write the picture to `FILE`, a PNG"))
	f.IntVar(&width, "width", 1600, p.say("width in `pixels`"))
	f.IntVar(&height, "height", 1200, p.say("height in `pixels`"))
	f.Float64Var(&megapixels, "megapixels", 0, p.say("size in megapixels (`MP`) at 4:3, instead of width and height"))
	f.IntVar(&depth, "depth", 8, p.say("`bits` a sample: 8 or 16"))
	f.Uint64Var(&seed, "seed", 1, p.say("random `seed`"))
	f.StringVar(&glare, "glare", "default", p.say("`kind` of glare: ")+strings.Join(glares, ", "))
	f.StringVar(&scene, "scene", "",
		p.say("`scene` to paint, the seed's choice if not given: ")+strings.Join(synth.Scenes(), ", "))
	f.BoolVar(&clean, "clean", false, p.say("also write the picture without glare (FILE with _clean.png)"))
	f.BoolVarP(&quiet, "quiet", "q", false, p.say("print nothing but errors"))
	complete(c, "glare", glares)
	complete(c, "scene", synth.Scenes())

	c.RunE = func(c *cobra.Command, _ []string) error {
		ctx := c.Context()
		if megapixels != 0 {
			if !(megapixels > 0 && megapixels <= sampleMaxMP) || f.Changed("width") || f.Changed("height") {
				return p.usage("--megapixels must be between 0 and %d and excludes --width and --height", sampleMaxMP)
			}
			width, height = sidesOf(megapixels, sampleMinSide)
		}
		for _, side := range []int{width, height} {
			if side < sampleMinSide || side > sampleMaxSide {
				return p.usage("width and height must be between %d and %d", sampleMinSide, sampleMaxSide)
			}
		}
		switch {
		case float64(width)*float64(height) > synth.MaxPixels:
			return p.usage("%d × %d is more than %d megapixels", width, height, sampleMaxMP)
		case depth != 8 && depth != 16:
			return p.usage("--depth %d: must be 8 or 16", depth)
		case !strings.EqualFold(filepath.Ext(out), ".png"):
			return p.usage("-o %s: the name must end in .png", out)
		}
		if err := p.checkChoice("glare", glare, glares); err != nil {
			return err
		}
		if scene != "" {
			if err := p.checkChoice("scene", scene, synth.Scenes()); err != nil {
				return err
			}
		}

		// Glare is rendered before the sensor's noise, so that only the result has any.
		o := synth.PaintOptions{Seed: seed, Scene: scene, Noiseless: glare != noGlare}
		painted, err := synth.Paint(ctx, width, height, depth, o)
		if err != nil {
			return err
		}
		if err := p.makeFolder(filepath.Dir(out)); err != nil {
			return err
		}
		stem := strings.TrimSuffix(out, filepath.Ext(out))
		written := []string{out}
		picture := painted
		if glare != noGlare {
			options, err := synth.Preset(glare)
			if err != nil {
				return err
			}
			options.Seed = seed
			shone, truth, _, err := synth.RenderGlare(ctx, painted, options)
			if err != nil {
				return err
			}
			picture = shone
			written = append(written, stem+"_mask.png")
			if err := imagefile.WriteMask(ctx, stem+"_mask.png", truth); err != nil {
				return err
			}
		}
		if clean {
			written = append(written, stem+"_clean.png")
			if err := imagefile.WritePNG(ctx, stem+"_clean.png", painted); err != nil {
				return err
			}
		}
		if err := imagefile.WritePNG(ctx, out, picture); err != nil {
			return err
		}
		if !quiet {
			fmt.Fprintf(p.Stdout, "%s: %d × %d\n", strings.Join(written, ", "), width, height)
		}
		return nil
	}
	return c
}

// sidesOf returns width and height of a picture of so many megapixels at 4:3, neither below least.
func sidesOf(megapixels float64, least int) (w, h int) {
	w = max(int(math.Round(math.Sqrt(megapixels*1e6*4/3))), least)
	return w, max(int(math.Round(megapixels*1e6/float64(w))), least)
}
