package cli

import (
	"blik/app/imagefile"
	"blik/app/work"
	"blik/processing"

	"github.com/spf13/cobra"
)

// workFlags are the flags of the work on each file: those of detect, correct, batch and farm submit.
type workFlags struct {
	*program
	work.Work
	params *paramFlags
	outDir string
	quiet  bool
}

// addFlags declares the flags of some kinds of work, with the parameters that specs describe.
func (f *workFlags) addFlags(c *cobra.Command, kinds work.Kind, specs []processing.Spec) {
	f.Work = work.Default()
	f.Detect = kinds&work.Correction == 0
	c.Flags().StringVarP(&f.outDir, "output", "o", ".", f.say("write into folder `DIR`, created if missing"))
	must(c.MarkFlagDirname("output"))
	f.addOptions(c, work.Options(kinds))
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, f.say("print nothing but errors"))
	f.params = addParams(f.program, c, specs)
}

// addOptions declares the flags that options describe.
func (f *workFlags) addOptions(c *cobra.Command, options []work.Option) {
	for _, o := range options {
		flags, help := c.Flags(), f.say(o.Help)
		switch field := o.Field(&f.Work).(type) {
		case *bool:
			flags.BoolVar(field, o.Name, *field, help)
		case *int:
			flags.IntVar(field, o.Name, *field, help)
		case *float64:
			flags.Float64Var(field, o.Name, *field, help)
		case *string:
			flags.StringVar(field, o.Name, *field, help)
		}
		if o.Values != nil {
			complete(c, o.Name, o.Values)
		}
		if o.Folder {
			must(c.MarkFlagDirname(o.Name))
		}
	}
}

// check derives the work from the flags; inputs are the files named.
func (f *workFlags) check(inputs []string) (err error) {
	if f.Params, err = f.params.params(); err != nil {
		return err
	}
	if err := f.Check(); err != nil {
		return &usageError{err}
	}
	if !f.Masked() {
		return nil
	}
	switch {
	case f.Mask != "" && len(inputs) > 1:
		return f.usage("--mask is for one file; use --mask-dir for several")
	case f.params.auto:
		return f.usage("--auto finds the glare itself and cannot be combined with a mask")
	}
	for _, s := range processing.SpecsOf(processing.StageDetection) {
		if _, ok := f.params.set[s.ID]; ok {
			return f.usage("--%s is a parameter of detection and cannot be combined with a mask", s.ID)
		}
	}
	return nil
}

// addOverwrite declares the flag that permits replacing files.
func addOverwrite(p *program, c *cobra.Command, overwrite *bool) {
	c.Flags().BoolVar(overwrite, "overwrite", false, p.say(work.OverwriteHelp))
}

// addLimit declares the flag for the largest picture size.
func addLimit(p *program, c *cobra.Command, limit *float64) {
	c.Flags().Float64Var(limit, "limit", work.Default().Limit, p.say(work.LimitHelp))
}

// limitsOf returns the limits for pictures of at most the given number of megapixels.
func limitsOf(megapixels float64) (imagefile.Limits, error) {
	limits, err := work.Limits(megapixels)
	if err != nil {
		err = &usageError{err}
	}
	return limits, err
}
