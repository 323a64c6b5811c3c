package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"blik/app/imagefile"
	"blik/internal/message"
	"blik/lab/score"
	"blik/processing"

	"github.com/spf13/cobra"
)

// scoring is one run of `blik score`.
type scoring struct {
	*tool
	tol, level int
	largeDir   string
	limits     imagefile.Limits
	noted      bool
}

func (t *tool) scoreCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "score [flags] " + t.Say("TRUTH PREDICTION"),
		Short: t.Say("Compare masks with the truth"),
		Long: t.Say(`Compares glare masks with the truth. TRUTH and PREDICTION are two mask files or two folders.

A folder of truths holds NAME_mask.png, or a manifest.json that lists its items. The prediction for NAME is the first
file called NAME, NAME_mask, NAME_glare, NAME_image, NAME_glare_mask, NAME_image_mask or NAME_pred; where there is none,
an empty mask is scored.

  P R F1      precision, recall and their harmonic mean, over pixels
  P1 R1 F1t   the same with the tolerance (--tol)
  objR objP   share of true glints touched; of predicted ones that touch the truth
  FPppm       predicted pixels outside the widened truth, per million pixels

With --negatives, TRUTH is a folder of clean pictures, on which everything predicted is a false alarm.`),
		Args: t.Exactly(2),
	}
	s := &scoring{tool: t}
	f := c.Flags()
	f.IntVar(&s.tol, "tol", 1, t.Say("tolerance in `pixels`"))
	f.IntVar(&s.level, "level", 127, t.Say("a predicted pixel is glare above this `value`, 0…254"))
	f.StringVar(&s.largeDir, "large-dir", "", t.Say("`folder` of the pictures that the manifest leaves out"))
	var limit float64
	t.AddLimit(c, &limit)
	negatives := f.Bool("negatives", false, t.Say("TRUTH is a folder of pictures without glare"))
	c.RunE = func(c *cobra.Command, args []string) error {
		if s.tol < 0 || s.tol > 1000 {
			return t.Usage("--tol %d: must be between 0 and 1000", s.tol)
		}
		if s.level < 0 || s.level > 254 {
			return t.Usage("--level %d: must be between 0 and 254", s.level)
		}
		var err error
		if s.limits, err = t.Limits(limit); err != nil {
			return err
		}
		err = s.run(c.Context(), args[0], args[1], *negatives)
		if err == nil && s.noted {
			return t.Reported()
		}
		return err
	}
	return c
}

func (s *scoring) run(ctx context.Context, truth, prediction string, negatives bool) error {
	if negatives {
		return s.negatives(ctx, truth, prediction)
	}
	if info, err := os.Stat(truth); err == nil && info.IsDir() {
		return s.folders(ctx, truth, prediction)
	}
	name := strings.TrimSuffix(filepath.Base(truth), filepath.Ext(truth))
	s.head()
	m, err := s.pair(ctx, truth, prediction)
	if err != nil {
		return err
	}
	s.row(strings.TrimSuffix(name, "_mask"), m)
	s.row("MEAN of 1", m)
	return nil
}

func (s *scoring) head() {
	fmt.Fprintf(s.Stdout, "%-26s %5s %5s %5s | %5s %5s %5s | %5s %5s %7s\n",
		"image", "P", "R", "F1", "P1", "R1", "F1t", "objR", "objP", "FPppm")
}

func (s *scoring) row(name string, m score.Metrics) {
	if r := []rune(name); len(r) > 26 {
		name = string(r[:26])
	}
	fmt.Fprintf(s.Stdout, "%s %5.3f %5.3f %5.3f | %5.3f %5.3f %5.3f | %5.3f %5.3f %7.0f\n",
		s.Column(name, 26), m.P, m.R, m.F1, m.PTol, m.RTol, m.F1Tol, m.ObjR, m.ObjP, m.FPppm)
}

// note reports a problem with an item to be scored.
func (s *scoring) note(format message.Text, args ...any) {
	s.noted = true
	fmt.Fprintf(s.Stderr, "blik: %s\n", s.Say(format, args...))
}

// pair scores the mask in one file against that in another; a mask of another size or without a file counts as empty.
func (s *scoring) pair(ctx context.Context, truth, prediction string) (score.Metrics, error) {
	want, err := imagefile.ReadMask(ctx, truth, 0, 0, s.limits)
	if err != nil {
		return score.Metrics{}, err
	}
	got := processing.NewMask(want.Width, want.Height)
	if prediction != "" {
		m, err := s.predicted(ctx, prediction, want.Width, want.Height)
		switch {
		case errors.Is(err, imagefile.ErrSize):
			s.note("%s; scored as empty", s.Sentence(err))
		case err != nil:
			return score.Metrics{}, err
		default:
			got = m
		}
	}
	return score.Compare(got, want, s.tol), nil
}

// predicted reads a mask and applies the level.
func (s *scoring) predicted(ctx context.Context, path string, w, h int) (*processing.Mask, error) {
	m, err := imagefile.ReadMask(ctx, path, w, h, s.limits)
	if err != nil {
		return nil, err
	}
	for i, v := range m.Pix {
		if int(v) > s.level {
			m.Pix[i] = 255
		} else {
			m.Pix[i] = 0
		}
	}
	return m, nil
}

// findPrediction returns the prediction for a name, empty if there is none.
func (s *scoring) findPrediction(folder, name string) string {
	tails := []string{"", "_mask", "_glare", "_image", "_glare_mask", "_image_mask", "_pred"}
	return s.FindMask(folder, name, tails)
}

type truthItem struct{ name, mask string }

// exists reports whether there is a file, a folder or a link at path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// truths lists the items of a folder of truths.
func (s *scoring) truths(folder string) ([]truthItem, error) {
	var items []truthItem
	path := filepath.Join(folder, "manifest.json")
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		masks, err := filepath.Glob(filepath.Join(folder, "*_mask.png"))
		slices.Sort(masks)
		for _, m := range masks {
			items = append(items, truthItem{strings.TrimSuffix(filepath.Base(m), "_mask.png"), m})
		}
		return items, err
	}
	if err != nil {
		return nil, message.Errorf("%s: the file cannot be read (%w)", path, message.Plain(err))
	}
	var manifest struct {
		Items []struct{ Name, Mask, Glare string }
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		return nil, message.Errorf("%s: no valid manifest (%w)", path, err)
	}
	for _, it := range manifest.Items {
		stored := exists(filepath.Join(folder, it.Glare)) ||
			s.largeDir != "" && exists(filepath.Join(s.largeDir, it.Glare))
		if !stored {
			fmt.Fprint(s.Stderr, s.Say("blik: %s is not stored; left out\n", it.Glare))
			continue
		}
		items = append(items, truthItem{it.Name, filepath.Join(folder, it.Mask)})
	}
	return items, nil
}

func (s *scoring) folders(ctx context.Context, truth, prediction string) error {
	if err := s.checkFolder(prediction); err != nil {
		return err
	}
	items, err := s.truths(truth)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return message.Errorf("%s: contains neither a manifest.json nor a NAME_mask.png", truth)
	}
	s.head()
	var all []score.Metrics
	for _, it := range items {
		found := s.findPrediction(prediction, it.name)
		if found == "" {
			s.note("%s: no prediction; scored as empty", it.name)
		}
		m, err := s.pair(ctx, it.mask, found)
		if err != nil {
			return err
		}
		all = append(all, m)
		s.row(it.name, m)
	}
	s.row(fmt.Sprintf("MEAN of %d", len(all)), score.Mean(all))
	return nil
}

func (s *scoring) negatives(ctx context.Context, clean, prediction string) error {
	if err := errors.Join(s.checkFolder(clean), s.checkFolder(prediction)); err != nil {
		return err
	}
	pictures, err := filepath.Glob(filepath.Join(clean, "*.png"))
	if err != nil {
		return err
	}
	if len(pictures) == 0 {
		return message.Errorf("%s: contains no PNG pictures", clean)
	}
	slices.Sort(pictures)
	for _, path := range pictures {
		name := strings.TrimSuffix(filepath.Base(path), ".png")
		found := s.findPrediction(prediction, name)
		if found == "" {
			s.note("%s: no prediction", name)
			continue
		}
		m, err := s.predicted(ctx, found, 0, 0)
		if err != nil {
			return err
		}
		ppm, n := score.FalseAlarms(m)
		fmt.Fprintf(s.Stdout, "%s false alarm %.0f ppm in %d objects\n", s.Column(name, 28), ppm, n)
	}
	return nil
}

func (s *scoring) checkFolder(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return message.Errorf("%s: no such folder", path)
	case !info.IsDir():
		return message.Errorf("%s: this is a file, not a folder", path)
	}
	return nil
}
