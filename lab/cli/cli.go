// Package cli holds the commands of the laboratory: sample paintings and training sets, benchmarks, and the comparison
// of masks.
package cli

import (
	"context"

	"blik/app/cli"
	"blik/lab/bench"

	"github.com/spf13/cobra"
)

// tool is the program with what the laboratory's tests replace.
type tool struct {
	*cli.Tool
	// open opens a device for `blik bench detect`; nil opens a real one.
	open func(ctx context.Context, name string) (bench.Runner, error)
}

// Commands returns the commands.
func Commands() []cli.Extension { return commands(nil) }

func commands(open func(ctx context.Context, name string) (bench.Runner, error)) []cli.Extension {
	var list []cli.Extension
	for _, command := range []func(*tool) *cobra.Command{
		(*tool).scoreCommand, (*tool).sampleCommand, (*tool).benchCommand, (*tool).trainingSetCommand,
	} {
		list = append(list, func(t *cli.Tool) *cobra.Command { return command(&tool{t, open}) })
	}
	return list
}

// must is for calls that can only fail because of a mistake in the commands' own flags.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
