//go:build !headless

package main

import (
	"context"

	"blik/app/cli"
	"blik/app/crash"
	"blik/app/farm/server"
	"blik/ui"
	_ "blik/ui/locale"
)

// window returns the function that opens the window.
func window(guard *crash.Guard) func(context.Context, cli.Window) error {
	return func(ctx context.Context, w cli.Window) error {
		return ui.Run(ctx, ui.Options{
			Files: w.Files, Detect: w.Detect, Lang: w.Lang, Version: w.Version, Queue: server.Embed, Crash: guard,
		})
	}
}

// renderer returns the function that names the window's renderer.
func renderer() func() (string, error) { return ui.Renderer }
