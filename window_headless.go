//go:build headless

package main

import (
	"context"

	"blik/app/cli"
	"blik/app/crash"
)

// window returns nil: this build has none.
func window(*crash.Guard) func(context.Context, cli.Window) error { return nil }

// renderer returns nil: this build draws nothing.
func renderer() func() (string, error) { return nil }
