package cli

import (
	"context"
	"time"

	"blik/app/i18n"
	"blik/app/imagefile"
	"blik/app/work"
	"blik/internal/message"
	"blik/processing"

	"github.com/spf13/cobra"
)

// Extension makes a command that is not part of the product. It is listed among the product's.
type Extension func(*Tool) *cobra.Command

// Tool is what an Extension may use of the program: its streams, its language, and the flags and checks that commands
// have in common.
type Tool struct {
	Options
	// Printer writes in the language of all output.
	Printer *i18n.Printer

	p *program
}

// Say writes a text in the language of the output; its arguments are those of message.Of.
func (t *Tool) Say(format message.Text, args ...any) string { return t.p.say(format, args...) }

// Sentence returns the text of an error in the language of the output, on one line.
func (t *Tool) Sentence(err error) string { return t.p.sentence(err) }

// PrintError prints an error as one line.
func (t *Tool) PrintError(err error) { t.p.printError(err) }

// Usage returns an error in the use of the command line.
func (t *Tool) Usage(format message.Text, args ...any) error { return t.p.usage(format, args...) }

// UsageOf turns an error into one in the use of the command line.
func (t *Tool) UsageOf(err error) error { return &usageError{err} }

// Reported is the error of a command whose failures have already been printed.
func (t *Tool) Reported() error { return errReported }

// Exactly requires n arguments.
func (t *Tool) Exactly(n int) cobra.PositionalArgs { return exactly(t.p, n) }

// Now returns the time.
func (t *Tool) Now() time.Time { return t.p.now() }

// CheckChoice refuses a value of a flag that is not one of those allowed.
func (t *Tool) CheckChoice(flag, value string, allowed []string) error {
	return t.p.checkChoice(flag, value, allowed)
}

// CheckDevice refuses an invalid device name.
func (t *Tool) CheckDevice(name string) error { return t.p.checkDevice(name) }

// Failure explains why the named device cannot be used.
func (t *Tool) Failure(name string, why message.Message) string { return deviceFailure(t.p, name, why) }

// AddOverwrite declares --overwrite.
func (t *Tool) AddOverwrite(c *cobra.Command, overwrite *bool) { addOverwrite(t.p, c, overwrite) }

// AddLimit declares the flag for the largest picture size; Limits returns the limits for its value.
func (t *Tool) AddLimit(c *cobra.Command, limit *float64) { addLimit(t.p, c, limit) }

// Limits returns the limits for pictures of at most the given number of megapixels.
func (t *Tool) Limits(megapixels float64) (imagefile.Limits, error) { return limitsOf(megapixels) }

// AddParams declares a flag for each parameter, and the flags for presets. params combines them after parsing; store
// writes a preset if the flags demand one.
func (t *Tool) AddParams(c *cobra.Command, specs []processing.Spec) (
	params func() (processing.Params, error),
	store func(ctx context.Context, p processing.Params, overwrite bool, inputs []string) error,
) {
	f := addParams(t.p, c, specs)
	return f.params, f.store
}

// MakeFolder creates a folder with its parents, and completes or removes outputs of killed processes in it.
func (t *Tool) MakeFolder(dir string) error {
	_, err := work.EnterFolder(dir)
	return err
}

// Free refuses outputs that are inputs, and without overwrite existing ones. what names the input to which they belong.
func (t *Tool) Free(outputs []string, overwrite bool, inputs []string, what string) error {
	return work.Free(outputs, overwrite, work.Existing(inputs...), what)
}

// FindMask returns the first file in a folder whose name is name with one of tails and the extension of a mask, empty
// if there is none.
func (t *Tool) FindMask(folder, name string, tails []string) string {
	return work.FindMask(folder, []string{name}, tails, nil)
}

// CompleteWith registers shell completion for the values of a flag.
func (t *Tool) CompleteWith(c *cobra.Command, flag string, values []string) {
	complete(c, flag, values)
}

// CompleteDevices offers the existing devices.
func (t *Tool) CompleteDevices(c *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
	return completeDevices(c, args, text)
}

// Column pads text to w characters.
func (t *Tool) Column(text string, w int) string { return column(text, w) }

// Progress is a progress bar on one line of the terminal.
type Progress struct{ b *bar }

// Progress starts a progress bar if there is a terminal and the command is not quiet.
func (t *Tool) Progress(quiet bool) Progress {
	if quiet {
		return Progress{}
	}
	return Progress{newBar(t.p.terminal)}
}

// Set shows a title, a stage and the share done.
func (p Progress) Set(title, stage string, share float64) { p.b.set(title, stage, share) }

// Clear removes the bar from the terminal until the next Set.
func (p Progress) Clear() { p.b.clear() }

// Close ends the bar.
func (p Progress) Close() { p.b.close() }
