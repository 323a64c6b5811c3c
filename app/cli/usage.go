package cli

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"

	"blik/internal/simd"
	"blik/processing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the width at which help texts are wrapped.
const helpWidth = 100

// groupOf is the annotation for the heading of a flag.
const groupOf = "group"

// printUsage prints the syntax of a command, its subcommands and its flags, with the parameters in groups.
func (p *program) printUsage(c *cobra.Command) error {
	var b strings.Builder
	b.WriteString(p.say("Usage:\n"))
	if c.Runnable() {
		fmt.Fprintf(&b, "  %s\n", strings.Replace(c.UseLine(), "[flags]", p.say("[flags]"), 1))
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s %s\n", c.CommandPath(), p.say("COMMAND"))
	}
	listCommands(&b, c, p.say("Commands:"), func(s *cobra.Command) bool { return s.IsAvailableCommand() })
	listCommands(&b, c, p.say("More help:"), func(s *cobra.Command) bool {
		return s.IsAdditionalHelpTopicCommand() && s.Name() != "help"
	})

	// Flags come in the order in which they were declared.
	var headings []string
	flags := map[string][]*pflag.Flag{}
	shown, left := firstFlags(c)
	for _, f := range shown {
		heading := p.say("Flags:")
		if g := f.Annotations[groupOf]; len(g) > 0 {
			heading = g[0]
		} else if general(c, f) {
			heading = p.say("General flags:")
		}
		if flags[heading] == nil {
			headings = append(headings, heading)
		}
		flags[heading] = append(flags[heading], f)
	}
	for _, heading := range headings {
		fmt.Fprintf(&b, "\n%s\n", heading)
		describeFlags(p, &b, flags[heading])
	}
	if left > 0 {
		fmt.Fprint(&b, p.say("\nAll flags, with %d more parameters of detection and correction: %s --help-all\n", left,
			c.CommandPath()))
	}
	_, err := fmt.Fprint(c.OutOrStdout(), b.String())
	return err
}

// maxFlags is the largest number of flags in the help of a command; helpAll is the flag that shows the others.
const (
	maxFlags = 30
	helpAll  = "help-all"
)

// frequent returns the parameters that the first help of a command with many flags shows, if there is room, the most
// useful first.
func frequent() []string {
	return []string{"mode", "sensitivity", "correct", "method", "coverage", "margin", "halo", "detector"}
}

// shownFlags lists the flags of a command, its own first.
func shownFlags(c *cobra.Command) (all []*pflag.Flag) {
	add := func(f *pflag.Flag) {
		if !f.Hidden && !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	// Not LocalNonPersistentFlags, which sorts them.
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !general(c, f) {
			add(f)
		}
	})
	c.LocalFlags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	return all
}

// general reports whether a flag of a command is one that all commands have.
func general(c *cobra.Command, f *pflag.Flag) bool {
	return f.Name == "help" || f.Name == helpAll || c.PersistentFlags().Lookup(f.Name) != nil ||
		c.InheritedFlags().Lookup(f.Name) != nil
}

// firstFlags returns the flags that the help of a command shows, and the number of those that it leaves to --help-all.
func firstFlags(c *cobra.Command) (shown []*pflag.Flag, left int) {
	all := shownFlags(c)
	if f := c.Flags().Lookup(helpAll); f == nil || f.Changed {
		return all, 0
	}
	parameter := func(f *pflag.Flag) bool { return len(f.Annotations[groupOf]) > 0 }
	room := maxFlags
	for _, f := range all {
		if !parameter(f) {
			room--
		}
	}
	var chosen []string
	for _, name := range frequent() {
		if c.Flags().Lookup(name) != nil && len(chosen) < room {
			chosen = append(chosen, name)
		}
	}
	shown = slices.DeleteFunc(slices.Clone(all), func(f *pflag.Flag) bool {
		return parameter(f) && !slices.Contains(chosen, f.Name)
	})
	return shown, len(all) - len(shown)
}

// describeFlags writes names in one column and their meaning, wrapped, in another. (pflag's own listing counts bytes,
// which leaves Cyrillic columns ragged.)
func describeFlags(p *program, b *strings.Builder, flags []*pflag.Flag) {
	names, meanings := make([]string, len(flags)), make([]string, len(flags))
	wide := 0
	for i, f := range flags {
		value, meaning := pflag.UnquoteUsage(f)
		names[i] = "      --" + f.Name
		if f.Shorthand != "" {
			names[i] = "  -" + f.Shorthand + ", --" + f.Name
		}
		if value != "" {
			names[i] += " " + value
		}
		switch f.DefValue {
		case "", "0", "false", "[]":
		default:
			meaning += p.say(" (default %s)", f.DefValue)
		}
		meanings[i] = meaning
		wide = max(wide, utf8.RuneCountInString(names[i]))
	}
	for i, name := range names {
		line := column(name, wide+2)
		at := wide + 2
		for word := range strings.FieldsSeq(meanings[i]) {
			n := utf8.RuneCountInString(word)
			if at > wide+2 && at+n > helpWidth {
				fmt.Fprintf(b, "%s\n", strings.TrimRight(line, " "))
				line, at = strings.Repeat(" ", wide+2), wide+2
			}
			line += word + " "
			at += n + 1
		}
		fmt.Fprintf(b, "%s\n", strings.TrimRight(line, " "))
	}
}

func listCommands(b *strings.Builder, c *cobra.Command, heading string, want func(*cobra.Command) bool) {
	for _, s := range c.Commands() {
		if want(s) {
			if heading != "" {
				fmt.Fprintf(b, "\n%s\n", heading)
				heading = ""
			}
			fmt.Fprintf(b, "  %-12s %s\n", s.Name(), s.Short)
		}
	}
}

// parametersTopic is `blik help parameters`: the manual of every parameter as Markdown.
func parametersTopic(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "parameters",
		Short: p.say("All parameters of detection and correction, as Markdown"),
		Long:  parametersMarkdown(p),
	}
}

func parametersMarkdown(p *program) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", p.say("Parameters of detection and correction"), p.say(
		"Each parameter is a flag of `blik correct` and a field of presets; parameters of detection are also "+
			"flags of `blik detect`. In adaptive mode the program itself chooses the parameters marked *manual*."))
	group := ""
	for _, s := range processing.Specs() {
		if s.Group.ID != group {
			group = s.Group.ID
			fmt.Fprintf(&b, "\n## %s\n\n| %s | %s | %s | %s | %s |\n|---|---|---|---|---|\n", p.tr.Sprint(s.Group.Name),
				p.say("flag"), p.say("name"), p.say("values"),
				p.say("default"), p.say("meaning"))
		}
		manual := ""
		if s.Manual {
			manual = p.say(" *manual*")
		}
		fmt.Fprintf(&b, "| `--%s` | %s%s | %s | %s | %s |\n",
			s.ID, p.tr.Sprint(s.Name), manual, valuesOf(p, s), s.Format(s.Default()), p.tr.Sprint(s.Help))
	}
	return b.String()
}

// valuesOf describes the values of a parameter: "odd, 3…63 px", "true, false".
func valuesOf(p *program, s processing.Spec) string {
	switch s.Kind {
	case processing.KindSwitch:
		return "true, false"
	case processing.KindChoice:
		return strings.Join(s.ChoiceIDs(), ", ")
	}
	text := fmt.Sprintf("%s…%s", s.Format(s.Min), s.Format(s.Max))
	if unit := p.tr.Sprint(s.Unit); unit != "" {
		text += " " + unit
	}
	if s.Kind == processing.KindOdd {
		text = p.say("odd, ") + text
	}
	return text
}

// tagText describes how the program was built.
func tagText(p *program) string {
	tags := "none"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-tags" && s.Value != "" {
				tags = s.Value
			}
		}
	}
	window := p.say("with window")
	if p.Window == nil {
		window = p.say("without window")
	}
	return p.say("build tags: %s; %s", tags, window)
}

// kernelText describes which kernels run on the CPU and why no faster ones are used.
func kernelText(p *program) string {
	why := simd.Why()
	if why.IsZero() {
		return p.say("CPU kernels: %s", simd.Chosen().String())
	}
	return p.say("CPU kernels: %s (%s)", simd.Chosen().String(), why)
}

// column pads text to w characters.
func column(text string, w int) string {
	return text + strings.Repeat(" ", max(w-utf8.RuneCountInString(text), 0))
}
