package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"blik/app/preset"
	"blik/app/work"
	"blik/internal/message"
	"blik/processing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// paramFlags are the flags of the parameters of a command, made from their descriptions.
type paramFlags struct {
	p     *program
	specs []processing.Spec
	// set holds the values given, by ID.
	set map[string]float64
	// former holds remarks on the values given that no longer exist, by ID.
	former map[string]message.Message
	// score is the flag of a parameter that no longer exists; nil where it never was. rules are flags of rules that no
	// longer exist.
	score      *pflag.Flag
	rules      []*pflag.Flag
	auto       bool
	preset     string
	savePreset string
}

// paramValue is the flag of one parameter.
type paramValue struct {
	flags *paramFlags
	spec  processing.Spec
}

var _ pflag.Value = paramValue{}

// wishError describes the allowed values of a flag.
type wishError struct{ text string }

func (w *wishError) Error() string { return w.text }

func (v paramValue) Set(text string) error {
	x, err := v.spec.Parse(text)
	if err != nil {
		allowed := preset.Allowed(v.spec)
		if len(v.spec.Stops) > 0 {
			ids := make([]string, len(v.spec.Stops))
			for i, stop := range v.spec.Stops {
				ids[i] = stop.ID
			}
			allowed = message.Of("%s, or one of %s", allowed, strings.Join(ids, ", "))
		}
		return &wishError{v.flags.p.tr.Sprint(allowed)}
	}
	v.flags.former[v.spec.ID] = preset.Former(v.spec, text)
	v.flags.set[v.spec.ID] = x
	return nil
}

func (v paramValue) String() string {
	if v.flags == nil {
		return ""
	}
	if x, ok := v.flags.set[v.spec.ID]; ok {
		return v.spec.Format(x)
	}
	return v.spec.Format(v.spec.Default())
}

func (v paramValue) Type() string {
	switch v.spec.Kind {
	case processing.KindSwitch:
		return "bool"
	case processing.KindChoice:
		return v.flags.p.say("word")
	default:
		return v.flags.p.say("number")
	}
}

// addParams declares a flag for each parameter, and the flags for presets, which hold all parameters.
func addParams(p *program, c *cobra.Command, specs []processing.Spec) *paramFlags {
	f := &paramFlags{p: p, specs: specs, set: map[string]float64{},
		former: map[string]message.Message{}}
	fl := c.Flags()
	fl.BoolVar(&f.auto, "auto", false,
		p.say("let the program choose every value (the default); excludes manual parameters"))
	fl.StringVar(&f.preset, "preset", "", p.say("take the parameters from the preset `FILE`; flags override it"))
	fl.StringVar(&f.savePreset, "save-preset", "", p.say("store the parameters as a preset in `FILE`"))
	for _, s := range f.specs {
		help := fmt.Sprintf("%s (%s). %s", p.tr.Sprint(s.Name), valuesOf(p, s), p.tr.Sprint(s.Help))
		if s.Manual {
			help = p.say("%s Switches to manual mode.", help)
		}
		flag := fl.VarPF(paramValue{f, s}, s.ID, "", help)
		if s.Kind == processing.KindSwitch {
			flag.NoOptDefVal = "true"
		}
		flag.Annotations = map[string][]string{groupOf: {p.tr.Sprint(s.Group.Name) + ":"}}
		if s.Kind == processing.KindChoice {
			complete(c, s.ID, s.ChoiceIDs())
		}
	}
	for _, s := range f.specs {
		if s.ID == "detector" {
			// Scripts for older versions set it.
			fl.Float64("score", 0, "")
			must(fl.MarkHidden("score"))
			f.score = fl.Lookup("score")
			for _, id := range preset.FormerRules() {
				fl.String(id, "", "")
				must(fl.MarkHidden(id))
				f.rules = append(f.rules, fl.Lookup(id))
			}
			fl.Lookup("colour-gate").NoOptDefVal = "true"
		}
	}
	return f
}

// store writes the parameters for --save-preset. It replaces only presets, and only with overwrite: if the name is
// forgotten, the next argument, a picture, is taken for it.
func (f *paramFlags) store(ctx context.Context, p processing.Params, overwrite bool, inputs []string) error {
	if f.savePreset == "" {
		return nil
	}
	if work.Existing(f.preset).Contains(f.savePreset) {
		return f.p.usage("--save-preset %s: --preset reads this file; give another name", f.savePreset)
	}
	if work.Exists(f.savePreset) {
		if _, _, err := preset.Read(f.savePreset); err != nil {
			return f.p.usage("--save-preset %s: file exists and is not a preset; not overwritten", f.savePreset)
		}
		err := work.Free([]string{f.savePreset}, overwrite, work.Existing(inputs...), "--save-preset")
		if err != nil {
			return err
		}
	}
	return preset.Write(ctx, f.savePreset, p)
}

// must is for calls that can only fail because of a mistake in the program's own flags.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// complete registers shell completion for the values of a flag.
func complete(c *cobra.Command, flag string, values []string) {
	must(c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// checkChoice refuses a value of a flag that is not one of those allowed.
func (p *program) checkChoice(flag, value string, allowed []string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return p.usage("--%s %s: must be one of %s", flag, value, strings.Join(allowed, ", "))
}

// params combines preset and flags. A manual parameter switches to manual mode unless --mode says otherwise.
func (f *paramFlags) params() (processing.Params, error) {
	p := processing.DefaultParams()
	if f.preset != "" {
		var err error
		var remark message.Message
		if p, remark, err = preset.Read(f.preset); err != nil {
			return p, &usageError{err}
		}
		f.remark(remark)
	}
	var manual []string
	for _, s := range f.specs {
		v, ok := f.set[s.ID]
		if !ok {
			continue
		}
		if err := s.Set(&p, v); err != nil {
			return p, &usageError{err}
		}
		if s.Manual {
			manual = append(manual, "--"+s.ID)
		}
	}
	var rules []string
	for _, flag := range f.rules {
		if flag.Changed {
			// They decided in manual mode, to which they switched.
			manual = append(manual, "--"+flag.Name)
			rules = append(rules, "--"+flag.Name)
		}
	}
	_, modeGiven := f.set["mode"]
	switch {
	case f.auto && len(manual) > 0:
		return p, f.p.usage("--auto chooses every value itself and cannot be combined with %s",
			strings.Join(manual, ", "))
	case f.auto && modeGiven && p.Mode == processing.Manual:
		return p, f.p.usage("--auto and --mode manual contradict each other")
	case f.auto:
		p.Mode = processing.Adaptive
	case modeGiven:
		if p.Mode == processing.Adaptive && len(manual) > 0 {
			fmt.Fprint(f.p.Stderr, f.p.say("blik: adaptive mode ignores %s\n", strings.Join(manual, ", ")))
		}
	case !f.former["detector"].IsZero():
		// It was the network, whatever the mode.
		p.Mode = processing.Adaptive
	case len(manual) > 0:
		p.Mode = processing.Manual
	}
	if f.score != nil && f.score.Changed {
		f.remark(message.Of("the classical detector no longer has a score; --score is ignored"))
	}
	for _, s := range f.specs {
		f.remark(f.former[s.ID])
	}
	if len(rules) > 0 {
		f.remark(preset.WithoutRules(rules))
	}
	return p, p.Validate()
}

// remark prints a remark, if there is one.
func (f *paramFlags) remark(m message.Message) {
	if !m.IsZero() {
		fmt.Fprint(f.p.Stderr, f.p.say("blik: %s\n", m))
	}
}
