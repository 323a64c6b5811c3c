package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"blik/app/imagefile"
	"blik/internal/parallel"
	"blik/processing"
	"blik/processing/cpu"
	"blik/processing/fit"
	"blik/processing/network"

	"github.com/spf13/cobra"
)

// fitCommand is hidden because it is for training the detector.
func (p *program) fitCommand() *cobra.Command {
	c := &cobra.Command{
		Use:    "fit [flags] " + p.say("SET..."),
		Hidden: true,
		Short:  p.say("Fit the weights of detection on training sets"),
		Long: p.say(`Fits the weights of the decision on training sets (blik trainingset), tests them by leaving out
paintings, prints the tables, and writes the weights. The program embeds processing/decision.json.`),
	}
	var out string
	var models []string
	var folds int
	f := c.Flags()
	var overwrite, exposures bool
	f.BoolVar(&overwrite, "overwrite", false, p.say("replace the file of weights"))
	f.StringVarP(&out, "output", "o", "", p.say("write the weights into `FILE`"))
	f.BoolVar(&exposures, "exposures", false,
		p.say("also test with less and more light, which takes seven times as long"))
	f.IntVar(&folds, "folds", 3, p.say("`number` of parts into which the paintings are divided"))
	f.StringArrayVar(&models, "network", nil,
		p.say("`MODEL` of a network that was trained without the paintings of a part; once for each part"))
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 || folds < 2 || len(models) > 0 && len(models) != folds {
			return p.usage("at least one set, two parts, and no network or one for each part are needed")
		}
		f := fitting{folds: folds, exposures: exposures}
		for _, path := range models {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			model, err := network.Parse(data)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			f.models = append(f.models, model)
		}
		var made []string
		for _, dir := range args {
			set, err := f.add(dir)
			if err != nil {
				return err
			}
			made = append(made, fmt.Sprintf("%s: %d pictures, seed %d", filepath.Base(dir), len(set.Items), set.Seed))
		}
		examples, err := f.find(c.Context())
		if err != nil {
			return err
		}
		d, err := fit.Report(c.Context(), p.Stdout, examples, folds, f.search)
		if err != nil || out == "" {
			return err
		}
		d.Made = strings.Join(made, "; ")
		text, err := json.MarshalIndent(d, "", " ")
		if err != nil {
			return err
		}
		options := imagefile.WriteOptions{Overwrite: overwrite}
		return imagefile.WriteFile(c.Context(), out, options, func(w io.Writer) error {
			_, err := w.Write(append(text, '\n'))
			return err
		})
	}
	return c
}

// fitting holds the data to fit: items of training sets, and the network for each fold of the paintings.
type fitting struct {
	folds     int
	models    []*network.Model
	exposures bool
	items     []fittingItem
	parts     map[string]int // of each painting
}

type fittingItem struct {
	trainingItem
	dir string
}

// add adds a training set.
func (f *fitting) add(dir string) (set trainingSet, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		return set, err
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return set, fmt.Errorf("%s: %w", dir, err)
	}
	for _, item := range set.Items {
		if item.Example == nil {
			return set, fmt.Errorf("%s: the manifest says nothing about %s", dir, item.Picture)
		}
		f.items = append(f.items, fittingItem{item, dir})
	}
	return set, nil
}

// network returns the network with which the pictures of a painting are searched; nil is the program's own.
func (f *fitting) network(painting string) *network.Model {
	if len(f.models) == 0 {
		return nil
	}
	return f.models[f.parts[painting]]
}

// find reads the pictures and finds their candidates.
func (f *fitting) find(ctx context.Context) ([]fit.Example, error) {
	paintings := make([]string, len(f.items))
	for i, item := range f.items {
		paintings[i] = fit.Painting(item.Painting)
	}
	f.parts = fit.Folds(paintings, f.folds)
	out := make([]fit.Example, len(f.items))
	err := parallel.Try(ctx, 0, len(out), func(ctx context.Context, tasks iter.Seq[int]) error {
		be := cpu.New()
		defer be.Close()
		for i := range tasks {
			e, pic, err := f.items[i].example(ctx)
			if err != nil {
				return err
			}
			if err := e.Find(ctx, be, pic, f.network(e.Painting), f.exposures); err != nil {
				return err
			}
			out[i] = e
		}
		return nil
	})
	return out, err
}

// search returns every spot that the default detection considers in an item.
func (f *fitting) search(ctx context.Context, item int, d *processing.Decision) ([]processing.Candidate, error) {
	pic, err := f.items[item].picture(ctx)
	if err != nil {
		return nil, err
	}
	be := cpu.New()
	defer be.Close()
	options := processing.Options{Network: f.network(fit.Painting(f.items[item].Painting)), Decision: d}
	return processing.Candidates(ctx, be, pic, processing.DefaultParams(), options)
}

// picture reads the picture of an item.
func (item *fittingItem) picture(ctx context.Context) (*processing.Picture, error) {
	file, err := imagefile.Read(ctx, filepath.Join(item.dir, item.Picture), imagefile.DefaultLimits())
	if err != nil {
		return nil, err
	}
	return file.Picture, nil
}

// example reads an item's picture, and its truth into an example without candidates.
func (item *fittingItem) example(ctx context.Context) (e fit.Example, pic *processing.Picture, err error) {
	if pic, err = item.picture(ctx); err != nil {
		return e, nil, err
	}
	path := filepath.Join(item.dir, item.Truth)
	truth, err := imagefile.Read(ctx, path, imagefile.DefaultLimits())
	if err != nil {
		return e, nil, err
	}
	t := truth.Picture
	if t.Channels != 1 || t.U8 == nil || t.Width != pic.Width || t.Height != pic.Height {
		return e, nil, fmt.Errorf("%s: not a truth of the size of %s", path, item.Picture)
	}
	group := item.Condition
	if group == "" {
		group = item.Kind
	}
	kind := item.Kind
	if kind == "plain" {
		kind = "clean"
	}
	mask := &processing.Mask{Width: t.Width, Height: t.Height, Pix: t.U8}
	return fit.NewExample(item.Picture, kind, group, fit.Painting(item.Painting), pic, mask), pic, nil
}
