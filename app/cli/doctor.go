package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"blik/app/crash"
	"blik/app/imagefile"
	"blik/app/session"
	"blik/app/settings"
	"blik/internal/message"
	"blik/internal/parallel"

	"github.com/spf13/cobra"
)

func doctorCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: p.say("Print what a bug report needs: program, system, display, devices, folders, memory"),
		Long: p.say(`Prints what a bug report needs: the program and its build, the system, the display and the OpenGL
driver, the devices, the settings folders and whether they are writable, and the limits of memory. It names no picture,
and writes your home folder as ~.`),
		Args: exactly(p, 0),
		RunE: printed(p, diagnosis),
	}
}

func printed(p *program, text func(*program) (string, error)) func(*cobra.Command, []string) error {
	return func(*cobra.Command, []string) error {
		text, err := text(p)
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(p.Stdout, text)
		return err
	}
}

// diagnosis describes program and system, including any problems; an error means only that the description failed.
func diagnosis(p *program) (string, error) {
	var b strings.Builder
	section := func(heading string) { fmt.Fprintf(&b, "\n%s\n", heading) }
	line := func(format message.Text, args ...any) { fmt.Fprintf(&b, "  %s\n", p.say(format, args...)) }
	variables := func(names ...string) {
		for _, name := range names {
			if v := p.Getenv(name); v != "" {
				fmt.Fprintf(&b, "  %s=%s\n", name, v)
			}
		}
	}

	b.WriteString(versionText(p))
	section(p.say("System"))
	fmt.Fprintf(&b, "  %s\n", systemName())
	line("processors: %d, of which Blik uses %d", runtime.NumCPU(), parallel.Processors())
	line("language: %s", p.tr.Code())
	variables("LC_ALL", "LC_MESSAGES", "LANG", "GOMEMLIMIT", "BLIK_KERNELS", "BLIK_DIALOGS", "BLIK_DRAWING",
		"FYNE_SCALE")

	section(p.say("Display"))
	variables("DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP")
	if p.Renderer == nil {
		line("this build has no window")
	} else if drawing, err := p.Renderer(); err != nil {
		fmt.Fprintf(&b, "  %s\n", p.sentence(err))
	} else {
		fmt.Fprintf(&b, "  %s\n  %s\n", drawing.Renderer, p.tr.Sprint(drawing.Picture))
	}

	section(p.say("Devices"))
	devices, err := deviceList(p)
	if err != nil {
		return "", err
	}
	for text := range strings.Lines(devices) {
		b.WriteString("  " + text)
	}

	section(p.say("Folders"))
	file, err := settings.Path()
	fmt.Fprintf(&b, "  %s\n", folderText(p, p.say("settings"), filepath.Dir(file), err))
	cache, err := crash.Folder()
	fmt.Fprintf(&b, "  %s\n", folderText(p, p.say("crash logs and thumbnails"), cache, err))

	section(p.say("Memory"))
	total, available := imagefile.MachineMemory()
	if total > 0 {
		line("of the machine: %d MiB, available %d MiB", total>>20, available>>20)
	} else {
		line("the system does not report its memory")
	}
	if space := imagefile.AddressSpace(); space > 0 {
		line("address space for pictures: %d MiB", space>>20)
	}
	limits := session.Limits()
	line("limits of a picture: %d megapixels, %d MiB", limits.Pixels/1e6, limits.Bytes>>20)
	return b.String(), nil
}

// folderText describes a folder of the program: where it is, and whether the program can write there.
func folderText(p *program, what, path string, err error) string {
	if err != nil {
		return what + ": " + p.sentence(err)
	}
	// A missing folder is created on demand in its parent folder.
	state, at := p.say("can be written"), path
	for {
		_, err := os.Stat(at)
		if above := filepath.Dir(at); os.IsNotExist(err) && above != at {
			state, at = p.say("does not exist yet"), above
			continue
		}
		break
	}
	probe, err := os.CreateTemp(at, "doctor-*")
	if err != nil {
		state = p.say("cannot be written")
	} else {
		probe.Close()
		os.Remove(probe.Name())
	}
	return fmt.Sprintf("%s: %s (%s)", what, abbreviateHome(path), state)
}

// abbreviateHome replaces the home folder in a path, which often holds the user's name, by ~.
func abbreviateHome(path string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		return path
	}
	if rest, inside := strings.CutPrefix(path, home); inside && (rest == "" || os.IsPathSeparator(rest[0])) {
		return "~" + rest
	}
	return path
}
