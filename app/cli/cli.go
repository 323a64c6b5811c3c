// Package cli is the command line of Blik.
//
// Main receives all its dependencies as arguments, so that tests can run it without starting a process. The flags of
// detection and correction are made from processing.Specs; all texts are translated when they are printed.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"blik/app/farm"
	"blik/app/i18n"
	"blik/app/imagefile"
	_ "blik/internal/addressspace" // before the runtime starts
	"blik/internal/message"
	"blik/processing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The exit statuses.
const (
	exitDone      = 0
	exitFailed    = 1
	exitUsage     = 2
	exitCancelled = 130
)

// Drawing says what draws the window: the name of the OpenGL renderer, and what draws the picture with it.
type Drawing struct {
	Renderer string
	Picture  message.Message
}

// Options connect the command line to the rest of the program.
type Options struct {
	// Version of the program.
	Version        string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Getenv looks up the environment; nil is os.Getenv.
	Getenv func(string) string
	// Window shows the window until it is closed; nil in a build without a window.
	Window func(context.Context, Window) error
	// Renderer says what draws the window, or the reason why no window can be shown; nil in a build without a window.
	Renderer func() (Drawing, error)
	// Recovered records a recovered panic and returns the path of the record; with nil panics are not recorded.
	Recovered func(value any, stack []byte) string

	// Crashes returns the logs of runs that crashed, each once. It is called only by a program without a window.
	Crashes func() ([]string, error)

	// Extensions make commands that are not part of the product.
	Extensions []Extension

	// backend and now replace the device and the clock in tests; childArguments replaces the arguments of the process
	// that works on a file of a farm.
	backend        func() (processing.Backend, error)
	now            func() time.Time
	childArguments func(path string, args []string) farm.Process
}

// Window holds the options of the window.
type Window struct {
	Files []string
	// Lang is the requested language, empty for the default.
	Lang string
	// Detect starts detection on the first file immediately.
	Detect bool
	// Version is the version of the program.
	Version string
}

// Main runs the command line with the arguments after the program's name and returns the exit status: 0 done, 1 some
// files failed, 2 usage error, 130 cancelled. Ctrl-C cancels, a second one kills.
func Main(args []string, o Options) int {
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// The reader of the output may be gone: then its writer gets an error, and the command is cancelled. The signal
	// itself comes for every pipe and connection whose other end is closed, so it must have no effect.
	signal.Ignore(syscall.SIGPIPE)
	o.Stdout = &cancellingWriter{o.Stdout, cancel}
	// Without this, cobra refuses to run when started from the Windows desktop, which is how the window is opened.
	cobra.MousetrapHelpText = ""
	return Run(ctx, args, o)
}

// cancellingWriter cancels the command when nobody reads what it writes.
type cancellingWriter struct {
	io.Writer
	cancel context.CancelFunc
}

func (w *cancellingWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		w.cancel()
	}
	return n, err
}

// failedWriter keeps the first error of a writer: a command has failed if its results were not printed.
type failedWriter struct {
	io.Writer
	err error
}

func (w *failedWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// minSpace is the minimum address space for the heap that the program needs to start: the smallest step by which the
// heap grows.
const minSpace = 64 << 20

// endings are the signals that cancel the command: interrupt (Ctrl-C), termination, hangup of the terminal unless the
// command was started to outlive it, and quit.
func endings() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// program is one run of the command line.
type program struct {
	Options
	// tr writes in the language of all output; given is the language requested by flag.
	tr    *i18n.Printer
	given string
	// terminal is the terminal on which progress is drawn.
	terminal io.Writer
}

// Run is Main without the signals of the process; the end of ctx cancels the command.
func Run(ctx context.Context, args []string, o Options) int {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.now == nil {
		o.now = time.Now
	}
	p := &program{Options: o, terminal: o.Stderr}
	out := &failedWriter{Writer: o.Stdout}
	// File names may contain control sequences for the terminal.
	p.Stdout, p.Stderr = &message.PrintableWriter{W: out}, &message.PrintableWriter{W: o.Stderr}
	p.given = langFlag(args)
	p.tr = i18n.For(p.given)
	if p.tr.Code() != p.given {
		p.tr = i18n.For(i18n.FromEnvironment(o.Getenv))
	}
	if space := imagefile.AddressSpace(); space > 0 && p.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(space)
	}
	printCrashes(p)
	root := rootCommand(p)
	// With nil, cobra would read os.Args.
	root.SetArgs(append([]string{}, args...))
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil && ctx.Err() == nil {
		err = out.err
	}
	var usage *usageError
	switch {
	case err == nil:
		return exitDone
	case ctx.Err() != nil:
		p.printError(message.Errorf("cancelled"))
		return exitCancelled
	case errors.Is(err, errReported):
		return exitFailed
	case errors.As(err, &usage):
		p.printError(err)
		fmt.Fprint(p.Stderr, p.say("See `%s --help`.\n", cmd.CommandPath()))
		return exitUsage
	}
	p.printError(err)
	return exitFailed
}

// printCrashes prints the paths of the logs of earlier runs that crashed. The window shows them itself.
func printCrashes(p *program) {
	if p.Window != nil || p.Crashes == nil {
		return
	}
	// Logs that cannot be read now are reported later.
	logs, _ := p.Crashes()
	for _, log := range logs {
		p.printError(message.Errorf("an earlier run ended unexpectedly; %s says where and contains no image data; "+
			"please attach it to a bug report", log))
	}
}

// langFlag finds the language before the flags are parsed, because the help of the flags depends on it.
func langFlag(args []string) string {
	for i, a := range args {
		if v, ok := strings.CutPrefix(a, "--lang="); ok {
			return v
		}
		switch {
		case a == "--":
			return ""
		case a == "--lang" && i+1 < len(args):
			return args[i+1]
		}
	}
	return ""
}

// say writes a text in the language of the output; its arguments are those of message.Of.
func (p *program) say(format message.Text, args ...any) string { return p.tr.Sprintf(format, args...) }

// errReported is the error of a command whose failures have already been printed.
var errReported = errors.New("some files failed")

// usageError is an error in the use of the command line.
type usageError struct{ err error }

func (u *usageError) Error() string { return u.err.Error() }
func (u *usageError) Unwrap() error { return u.err }

func (p *program) usage(format message.Text, args ...any) error {
	return &usageError{message.Errorf(format, args...)}
}

// sentence returns the text of an error in the language of the output, on one line.
func (p *program) sentence(err error) string {
	return strings.Join(strings.Fields(p.tr.Error(err)), " ")
}

// printError prints an error as one line.
func (p *program) printError(err error) { fmt.Fprintf(p.Stderr, "blik: %s\n", p.sentence(err)) }

// Commands returns the tree of commands with its texts in a language, for a manual. Its commands cannot be run.
func Commands(lang, version string, extensions []Extension) *cobra.Command {
	p := &program{Options: Options{Version: version, Extensions: extensions}, tr: i18n.For(lang)}
	return rootCommand(p)
}

func rootCommand(p *program) *cobra.Command {
	root := &cobra.Command{
		Use:   "blik [" + p.say("FILE") + "…]",
		Short: p.say("Finds and removes glare on digital reproductions of paintings"),
		Long: p.say(`Blik finds and removes glare on digital reproductions of paintings.

Without a command it opens the window, with the files named.`),
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completePictures,
		SilenceUsage:      true,
		SilenceErrors:     true,
		// Commands within two letters of a mistyped one are suggested.
		SuggestionsMinimumDistance: 2,
		RunE:                       p.openFromRoot,
	}
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.SetUsageFunc(p.printUsage)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{p.flagError(err)} })
	root.PersistentFlags().String("lang", "", p.say("`LANGUAGE` of texts, en or ru; the system's by default"))
	complete(root, "lang", []string{"en", "ru"})
	root.Version = p.Version
	root.SetVersionTemplate(versionText(p))
	root.Flags().Bool("version", false, p.say("print the version"))
	root.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		// The runtime ends the program if it cannot get the memory that it requests.
		if space := imagefile.AddressSpace(); space > 0 && space < minSpace {
			return message.Errorf("the limit of the address space (ulimit -v) leaves %d MiB for pictures; at least "+
				"%d MiB are needed", space>>20, minSpace>>20)
		}
		if p.given != "" && p.given != p.tr.Code() {
			return p.usage("--lang %s: must be en or ru", p.given)
		}
		return p.refuseEmpty(c, args)
	}
	root.AddCommand(detectCommand(p), correctCommand(p), verifyCommand(p), devicesCommand(p),
		openCommand(p), versionCommand(p), doctorCommand(p), completionCommand(p), farmCommand(p),
		batchCommand(p), learnCommand(p), parametersTopic(p))
	for _, extend := range p.Extensions {
		root.AddCommand(extend(&Tool{Options: p.Options, Printer: p.tr, p: p}))
	}
	root.SetHelpCommand(helpCommand(p))
	root.InitDefaultHelpCmd()
	describeHelp(p, root)
	return root
}

// refuseEmpty refuses empty arguments and values, which scripts make of variables that are not set.
func (p *program) refuseEmpty(c *cobra.Command, args []string) (err error) {
	if c.DisableFlagParsing {
		return nil // the shell asks for completions
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		list, several := f.Value.(pflag.SliceValue)
		if f.Value.String() == "" || several && (len(list.GetSlice()) == 0 || slices.Contains(list.GetSlice(), "")) {
			err = p.usage("--%s needs a value", f.Name)
		}
	})
	if i := slices.Index(args, ""); err == nil && i >= 0 {
		err = p.usage("argument %d is empty", i+1)
	}
	return err
}

// helpCommand is like cobra's, but refuses unknown topics.
func helpCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "help [" + p.say("COMMAND") + "]",
		Short: p.say("Help about a command"),
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if about, rest, err := c.Root().Find(args); err == nil && len(rest) == 0 {
				return topics(about), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return p.usage("no help on %q; choose from %s", strings.Join(args, " "),
					strings.Join(topics(c.Root()), ", "))
			}
			return about.Help()
		},
	}
}

// topics lists the help topics below a command.
func topics(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	return names
}

// completionCommand replaces cobra's, whose texts are English only and which accepts any shell name.
func completionCommand(p *program) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion " + p.say("SHELL"),
		Short: p.say("Write a completion script for a shell"),
		Long: p.say(`Prints a completion script for SHELL: bash, zsh, fish or powershell.

  bash        blik completion bash > ~/.local/share/bash-completion/completions/blik
  zsh         blik completion zsh > "${fpath[1]}/_blik"
  fish        blik completion fish > ~/.config/fish/completions/blik.fish
  powershell  blik completion powershell | Out-String | Invoke-Expression`),
		ValidArgs: shells,
		RunE: func(c *cobra.Command, args []string) error {
			shell := strings.Join(args, " ")
			switch root := c.Root(); shell {
			case "bash":
				return root.GenBashCompletionV2(p.Stdout, true)
			case "zsh":
				return root.GenZshCompletion(p.Stdout)
			case "fish":
				return root.GenFishCompletion(p.Stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(p.Stdout)
			}
			return p.usage("no script for shell %q; choose from %s", shell, strings.Join(shells, ", "))
		},
	}
}

// describeHelp translates the help flag of every command, and declares the flag of the second help.
func describeHelp(p *program, c *cobra.Command) {
	c.Flags().SortFlags = false
	c.Flags().BoolP("help", "h", false, p.say("show this help"))
	if own := shownFlags(c); len(own) > maxFlags {
		all := c.Flags().Bool(helpAll, false, p.say("show all %d flags", len(own)+1))
		run := c.RunE
		c.RunE = func(c *cobra.Command, args []string) error {
			if *all {
				return c.Help()
			}
			return run(c, args)
		}
	}
	for _, sub := range c.Commands() {
		describeHelp(p, sub)
	}
}

// flagError rewords an error of pflag.
func (p *program) flagError(err error) error {
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
	)
	switch {
	case errors.As(err, &unknown):
		name := "--" + unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			name = "-" + unknown.GetSpecifiedName()
		}
		return message.Errorf("unknown flag %s", name)
	case errors.As(err, &missing):
		return message.Errorf("--%s needs a value", missing.GetFlag().Name)
	case errors.As(err, &invalid) && invalid.GetValue() == "":
		return message.Errorf("--%s needs a value", invalid.GetFlag().Name)
	case errors.As(err, &invalid):
		if wish, ok := errors.AsType[*wishError](invalid.Unwrap()); ok {
			return fmt.Errorf("--%s %s: %w", invalid.GetFlag().Name, invalid.GetValue(), wish)
		}
		return message.Errorf("--%s %s: invalid value", invalid.GetFlag().Name, invalid.GetValue())
	}
	return err
}

// completePictures registers shell completion for picture files.
func completePictures(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return imagefile.Extensions(), cobra.ShellCompDirectiveFilterFileExt
}

func versionCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: p.say("Print version, Go version, system, build tags and CPU kernels"),
		Args:  exactly(p, 0),
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(p.Stdout, versionText(p))
			return err
		},
	}
}

func versionText(p *program) string {
	return fmt.Sprintf("blik %s\n%s %s/%s\n%s\n%s\n",
		p.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, tagText(p), kernelText(p))
}

// exactly requires n arguments.
func exactly(p *program, n int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return p.usage("%d arguments expected, %d given", n, len(args))
		}
		return nil
	}
}
