//go:build !headless

package main

import (
	"context"

	"blik/app/cli"
	"blik/app/crash"
	"blik/app/farm/server"
	"blik/app/i18n"
	"blik/ui"
	_ "blik/ui/locale"
	"blik/ui/screen"
)

// timing makes the timing view; nil in a build without the laboratory.
var timing func(ui.Host, *i18n.Printer) ui.TimingView

// window returns the function that opens the window.
func window(guard *crash.Guard) func(context.Context, cli.Window) error {
	return func(ctx context.Context, w cli.Window) error {
		return ui.Run(ctx, ui.Options{
			Files: w.Files, Detect: w.Detect, Lang: w.Lang, Version: w.Version, Queue: server.Embed, Crash: guard,
			Timing: timing,
		})
	}
}

// renderer returns the function that says what draws the window.
func renderer() func() (cli.Drawing, error) {
	return func() (cli.Drawing, error) {
		name, picture, err := screen.Renderer()
		return cli.Drawing{Renderer: name, Picture: picture.Why}, err
	}
}
