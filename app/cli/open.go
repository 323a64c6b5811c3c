package cli

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"blik/internal/message"

	"github.com/spf13/cobra"
)

func openCommand(p *program) *cobra.Command {
	c := &cobra.Command{
		Use:               "open [flags] " + p.say("FILE") + "…",
		Short:             p.say("Open pictures in the window"),
		ValidArgsFunction: completePictures,
	}
	detect := c.Flags().Bool("detect", false, p.say("find the glare immediately"))
	c.RunE = func(c *cobra.Command, args []string) error {
		return openWindow(c.Context(), p, Window{Files: expand(args), Lang: p.given, Detect: *detect})
	}
	return c
}

// openFromRoot is `blik` and `blik FILE…`. A build without a window prints its help instead of nothing.
func (p *program) openFromRoot(c *cobra.Command, args []string) error {
	if len(args) == 0 && p.Window == nil {
		if err := c.Help(); err != nil {
			return err
		}
		fmt.Fprintf(p.Stdout, "\n%s.\n", p.say("This build has no window"))
		return nil
	}
	files := expand(args)
	// A mistyped command looks like a missing file.
	for _, f := range files {
		if _, err := os.Stat(f); err == nil {
			continue
		}
		if near := c.SuggestionsFor(f); len(near) > 0 {
			return p.usage("%s is neither a command nor a file; did you mean %s?", f, near[0])
		}
		return p.usage("%s is neither a command nor a file", f)
	}
	return openWindow(c.Context(), p, Window{Files: files, Lang: p.given})
}

func openWindow(ctx context.Context, p *program, w Window) error {
	if p.Window == nil {
		return message.Errorf("this build has no window; use `blik detect`")
	}
	if runtime.GOOS == "linux" && p.Getenv("DISPLAY") == "" && p.Getenv("WAYLAND_DISPLAY") == "" {
		return message.Errorf("no window: neither DISPLAY nor WAYLAND_DISPLAY is set; `blik detect` works without one")
	}
	w.Version = p.Version
	return p.Window(ctx, w)
}
