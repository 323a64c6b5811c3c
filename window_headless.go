//go:build headless

package main

import (
	"context"

	"blik/app/cli"
	"blik/app/crash"
)

// window returns nil, because this build has no window.
func window(*crash.Guard) func(context.Context, cli.Window) error { return nil }

// renderer returns nil, because this build draws nothing.
func renderer() func() (cli.Drawing, error) { return nil }
