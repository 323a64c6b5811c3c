package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"blik/app/imagefile"
	"blik/app/preset"
	"blik/app/session"
	"blik/app/work"
	"blik/internal/message"
	"blik/processing"
	"blik/processing/detect"
	"blik/processing/learn"
	"blik/processing/network"

	"github.com/spf13/cobra"
)

// learning is one run of `blik learn`.
type learning struct {
	*program
	out, preset, deviceName string
	from                    []string
	quiet, overwrite        bool
}

func learnCommand(p *program) *cobra.Command {
	c := &cobra.Command{
		Use:   "learn -o " + p.say("PRESET") + " --from " + p.say("PICTURE=MASK") + "…",
		Short: p.say("Adapt detection to your own pictures"),
		Long: p.say(`Adapts detection to your own pictures and writes a preset for detect, correct and the window. For
each picture, give a mask of the same size that marks what you know: white is glare, black is paint, grey is undecided.
Masks of detect that you have corrected in the window are suitable.

Two methods are tried: a linear shift of the score, and the conjugacy indicator, which compares each spot with the
subspaces of your glints and of your paint. Both are tested on pictures that they did not learn from (with a single
picture, on parts of it). If neither is better than the default there, nothing is written. What is learned moves no
score by more than one step of the sensitivity.`),
		Args: exactly(p, 0),
	}
	l := &learning{program: p}
	f := c.Flags()
	f.StringVarP(&l.out, "output", "o", "", p.say("write the preset into `FILE`"))
	addOverwrite(l.program, c, &l.overwrite)
	f.StringArrayVar(&l.from, "from", nil, p.say("learn from `PICTURE=MASK`; may be repeated"))
	f.StringVar(&l.preset, "preset", "", p.say("take the parameters from the preset `FILE`; flags override it"))
	addDevice(p, c, &l.deviceName)
	f.BoolVarP(&l.quiet, "quiet", "q", false, p.say("print nothing but errors"))
	c.RunE = func(c *cobra.Command, _ []string) error { return l.run(c.Context()) }
	return c
}

// lesson is a picture with its mask.
type lesson struct{ picture, mask string }

func (l *learning) run(ctx context.Context) error {
	params, lessons, err := l.plan()
	if err != nil {
		return err
	}
	device, err := l.openDevice(ctx, l.deviceName)
	if err != nil {
		return err
	}
	defer device.Close()
	var spots []learn.Spot
	for i := range lessons {
		found, err := lessons[i].study(ctx, device, params, i, len(lessons))
		if err != nil {
			return err
		}
		spots = append(spots, found...)
	}
	model, err := network.Default()
	if err != nil {
		return err
	}
	basis, _ := processing.LearnedBasis(model)
	r, err := learn.From(ctx, spots, basis)
	if err != nil {
		return err
	}
	if !l.quiet {
		fmt.Fprint(l.Stdout, l.report(r, len(lessons)))
	}
	if r.Learned == nil {
		return nil
	}
	params.Learned = r.Learned
	if err := preset.Write(ctx, l.out, params); err != nil {
		return err
	}
	if !l.quiet {
		fmt.Fprintln(l.Stdout, l.say("%s contains what was learned", l.out))
	}
	return nil
}

// plan checks the flags before any work.
func (l *learning) plan() (processing.Params, []lesson, error) {
	params := processing.DefaultParams()
	switch {
	case l.out == "":
		return params, nil, l.usage("-o is needed: the preset to write")
	case len(l.from) == 0:
		return params, nil, l.usage("--from is needed: a picture and its mask")
	}
	if err := l.checkDevice(l.deviceName); err != nil {
		return params, nil, err
	}
	if l.preset != "" {
		var err error
		if params, _, err = preset.Read(l.preset); err != nil {
			return params, nil, &usageError{err}
		}
	}
	// Learning starts from the default, not from earlier learning.
	params.Learned = nil
	var lessons []lesson
	inputs := []string{l.preset}
	for _, text := range l.from {
		i := cutAt(text)
		if i <= 0 || i == len(text)-1 {
			return params, nil, l.usage("--from %s: must be PICTURE=MASK", text)
		}
		lessons = append(lessons, lesson{picture: text[:i], mask: text[i+1:]})
		inputs = append(inputs, text[:i], text[i+1:])
	}
	if work.Exists(l.out) {
		if _, _, err := preset.Read(l.out); err != nil {
			return params, nil, l.usage("-o %s: file exists and is not a preset; not overwritten", l.out)
		}
	}
	return params, lessons, work.Free([]string{l.out}, l.overwrite, work.Existing(inputs...), "-o")
}

// cutAt returns the index of the "=" between two file names, which may contain "=" themselves, or −1.
func cutAt(text string) int {
	for i, c := range text {
		if c != '=' {
			continue
		}
		if _, err := os.Stat(text[:i]); err != nil {
			continue
		}
		if _, err := os.Stat(text[i+1:]); err == nil {
			return i
		}
	}
	return strings.IndexByte(text, '=')
}

// study reads picture and mask of the i-th of n lessons, finds the candidates, and returns the decisions about them. A
// single picture is divided into parts, which are left out one at a time.
func (s *lesson) study(ctx context.Context, on runner, params processing.Params, i, n int) ([]learn.Spot, error) {
	limits := session.Limits()
	file, err := imagefile.Read(ctx, s.picture, limits)
	if err != nil {
		return nil, err
	}
	pic := file.Picture
	marked, err := imagefile.ReadMask(ctx, s.mask, pic.Width, pic.Height, limits)
	if err != nil {
		return nil, err
	}
	var table *detect.Table
	_, err = on.Run(ctx, pic.Width*pic.Height, func(ctx context.Context, be processing.Backend) (err error) {
		table, err = detect.Search(ctx, be, pic, detect.Options{Vectors: true})
		return err
	})
	if err != nil {
		return nil, err
	}
	decision, err := processing.DefaultDecision()
	if err != nil {
		return nil, err
	}
	part := func(int, int) int { return i }
	if n == 1 {
		part = learn.Parts(marked)
	}
	return learn.Decide(table, decision, marked, params.Sensitivity, part), nil
}

// report prints the number of decisions, the accuracy of each method, and the best one.
func (l *learning) report(r *learn.Result, pictures int) string {
	var b strings.Builder
	line := func(format message.Text, args ...any) { fmt.Fprintln(&b, l.say(format, args...)) }
	line("learned from %d spots of glare and %d of paint", r.Glare, r.Paint)
	if pictures > 1 {
		line("wrong decisions about pictures, each left out of learning in turn (%d pictures):", r.Groups)
	} else {
		line("wrong decisions about parts of the picture, each left out of learning in turn (%d parts):",
			r.Groups)
	}
	for _, row := range []struct {
		name  message.Message
		trial learn.Trial
	}{
		{message.Of("default"), r.Default}, {message.Of("linear shift"), r.Shift},
		{message.Of("conjugacy indicator"), r.Conjugacy},
	} {
		line("  %s: %d (glare missed: %d, paint taken for glare: %d)", row.name, row.trial.Wrong(), row.trial.Missed,
			row.trial.False)
	}
	switch {
	case r.Learned == nil:
		line("neither method is clearly better than the default, which stays; no preset is written")
	case r.Learned.Way == processing.WayConjugacy:
		line("the conjugacy indicator is best and is used")
	default:
		line("the linear shift is best and is used")
	}
	return b.String()
}
