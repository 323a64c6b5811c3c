package cli

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"blik/app/imagefile"
	"blik/internal/parallel"
	"blik/lab/synth"
	"blik/processing"

	"github.com/spf13/cobra"
)

// trainingSet is the manifest of a training set.
type trainingSet struct {
	Version int            `json:"version"`
	Program string         `json:"program"`
	Seed    uint64         `json:"seed"`
	Items   []trainingItem `json:"items"`
}

type trainingItem struct {
	Picture string `json:"picture"`
	Truth   string `json:"truth"`
	// Painting is the file's name, PaintingSHA256 the hash of its bytes.
	Painting       string `json:"painting"`
	PaintingSHA256 string `json:"painting_sha256"`
	*synth.Example
}

// trainingSetCommand is hidden because it is for training the network, not for cleaning photographs.
func (t *tool) trainingSetCommand() *cobra.Command {
	c := &cobra.Command{
		Use:    "trainingset [flags] --paintings " + t.Say("PATH"),
		Hidden: true,
		Short:  t.Say("Render a training set for the network"),
		Long: t.Say(`Renders pictures with and without glare over parts of the paintings, for training a detector.
Writes NNNNN.png, NNNNN_truth.png (255 glare, 128 unsure, 0 none) and manifest.json into the folder.
The same paintings and seed give the same files.`),
		Args: t.Exactly(0),
	}
	r := &rendering{tool: t}
	kinds, _ := synth.ExampleKinds()
	f := c.Flags()
	f.StringVarP(&r.out, "output", "o", "trainingset",
		t.Say("write into folder `DIR`, created if missing"))
	t.AddOverwrite(c, &r.overwrite)
	f.StringArrayVar(&r.paintings, "paintings", nil,
		t.Say("`PATH` of a painting or a folder of them; may be repeated"))
	f.IntVar(&r.count, "count", 100, t.Say("`number` of pictures"))
	f.IntVar(&r.width, "width", 640, t.Say("width in `pixels`"))
	f.IntVar(&r.height, "height", 480, t.Say("height in `pixels`"))
	f.StringVar(&r.kind, "kind", "", t.Say("`kind` of picture, any if not given: ")+strings.Join(kinds, ", "))
	f.Uint64Var(&r.seed, "seed", 1, t.Say("random `seed`"))
	f.BoolVarP(&r.quiet, "quiet", "q", false, t.Say("print nothing but errors"))
	t.CompleteWith(c, "kind", kinds)

	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := r.check(kinds); err != nil {
			return err
		}
		return r.run(c.Context())
	}
	return c
}

// rendering is one run of `blik trainingset`.
type rendering struct {
	*tool
	out, kind            string
	paintings            []string
	count, width, height int
	seed                 uint64
	quiet, overwrite     bool
}

// check rejects flags out of range.
func (r *rendering) check(kinds []string) error {
	const most, minSide, maxSide = 100_000, 64, 4096
	switch {
	case r.count < 1 || r.count > most:
		return r.Usage("--count must be between 1 and %d", most)
	case min(r.width, r.height) < minSide || max(r.width, r.height) > maxSide:
		return r.Usage("width and height must be between %d and %d", minSide, maxSide)
	case r.kind != "":
		return r.CheckChoice("kind", r.kind, kinds)
	}
	return nil
}

// run renders the pictures and writes the manifest.
func (r *rendering) run(ctx context.Context) error {
	files, err := pictureFiles(r.paintings)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return r.Usage("--paintings: no picture found")
	}
	if err := r.MakeFolder(r.out); err != nil {
		return err
	}
	manifest := filepath.Join(r.out, "manifest.json")
	if err := r.Free([]string{manifest}, r.overwrite, files, manifest); err != nil {
		return err
	}
	options := imagefile.WriteOptions{Overwrite: r.overwrite}
	set := trainingSet{Version: 1, Program: r.Version, Seed: r.seed, Items: make([]trainingItem, r.count)}
	random := rand.New(rand.NewPCG(r.seed, 0))
	for i := range set.Items {
		set.Items[i].Example = &synth.Example{Kind: r.kind, Seed: random.Uint64()}
	}
	paintings := min(r.count, len(files))
	for i := range paintings {
		if err := set.render(ctx, r.out, options, files, i, r.width, r.height); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(set, "", " ")
	if err != nil {
		return err
	}
	err = imagefile.WriteFile(ctx, manifest, options, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
	if err == nil && !r.quiet {
		fmt.Fprintln(r.Stdout, r.Say("%s: %d pictures of %d paintings", r.out, r.count, paintings))
	}
	return err
}

// pictureFiles lists the pictures that the paths name, those of a folder by name.
func pictureFiles(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		entries, err := os.ReadDir(path)
		if err != nil {
			if info, e := os.Stat(path); e != nil || info.IsDir() {
				return nil, err
			}
			files = append(files, path)
		}
		for _, entry := range entries {
			extension := strings.ToLower(strings.TrimPrefix(filepath.Ext(entry.Name()), "."))
			if slices.Contains(imagefile.Extensions(), extension) {
				files = append(files, filepath.Join(path, entry.Name()))
			}
		}
	}
	return files, nil
}

// render makes the items of one painting: every len(files)-th from the first on.
func (s *trainingSet) render(
	ctx context.Context, dir string, o imagefile.WriteOptions, files []string, first, width, height int,
) error {
	path := files[first]
	file, err := imagefile.Read(ctx, path, imagefile.DefaultLimits())
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	hash := fmt.Sprintf("%x", sha256.Sum256(data))
	n := (len(s.Items)-first-1)/len(files) + 1
	return parallel.Try(ctx, 0, n, func(ctx context.Context, tasks iter.Seq[int]) error {
		for task := range tasks {
			i := first + task*len(files)
			item := &s.Items[i]
			item.Picture, item.Truth = fmt.Sprintf("%05d.png", i), fmt.Sprintf("%05d_truth.png", i)
			item.Painting, item.PaintingSHA256 = filepath.Base(path), hash
			var err error
			item.Example, err = synth.NewExample(ctx, file.Picture, width, height, item.Kind, item.Seed)
			if err != nil {
				return err
			}
			truth := &processing.Picture{Width: width, Height: height, Channels: 1, U8: item.Example.Truth.Pix}
			err = errors.Join(imagefile.WritePNG(ctx, filepath.Join(dir, item.Picture), o, item.Example.Picture),
				imagefile.WritePNG(ctx, filepath.Join(dir, item.Truth), o, truth))
			if err != nil {
				return err
			}
			item.Example.Picture, item.Example.Truth = nil, nil
		}
		return nil
	})
}
