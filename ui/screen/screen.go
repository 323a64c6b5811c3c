// Package screen finds the screen for the window, and its driver. It runs before the toolkit, which would end the
// program with a stack trace, or silently, if something is missing.
package screen

import (
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"runtime"
	"strings"

	"github.com/go-gl/gl/v2.1/gl"
	"github.com/go-gl/glfw/v3.4/glfw"

	"blik/internal/message"
	"blik/ui/shader"
)

var errNoDisplay = errors.New("no display: neither DISPLAY nor WAYLAND_DISPLAY is set; `blik detect` works without one")

// Renderer returns the OpenGL renderer of the window: vendor, renderer, version, and what draws the picture with it. It
// opens an invisible window, and must be called from the main goroutine while no other window is open. Errors state
// what is missing.
func Renderer() (name string, picture shader.Choice, err error) {
	if err := check(); err != nil {
		return "", picture, err
	}
	// GLFW's binding logs errors that it cannot return, and panics if GLFW was not initialised after all.
	var said strings.Builder
	before := log.Writer()
	log.SetOutput(&said)
	defer func() {
		log.SetOutput(before)
		if r := recover(); r != nil {
			err = noRenderer(said.String())
		}
	}()
	// The toolkit initialises GLFW again, and the hint stays.
	glfw.InitHint(glfw.PlatformHint, int(platform()))
	if err := glfw.Init(); err != nil {
		return "", picture, noRenderer(err.Error())
	}
	defer glfw.Terminate()
	// The toolkit requires this version.
	glfw.WindowHint(glfw.ContextVersionMajor, 2)
	glfw.WindowHint(glfw.ContextVersionMinor, 0)
	glfw.WindowHint(glfw.Visible, glfw.False)
	w, err := glfw.CreateWindow(16, 16, "Blik", nil, nil)
	if err != nil {
		return "", picture, noRenderer(err.Error())
	}
	defer w.Destroy()
	w.MakeContextCurrent()
	defer glfw.DetachCurrentContext()
	if err := gl.Init(); err != nil {
		return "", picture, noRenderer(err.Error())
	}
	ask := func(what uint32) string { return gl.GoStr(gl.GetString(what)) }
	name = fmt.Sprintf("%s, %s, OpenGL %s", ask(gl.VENDOR), ask(gl.RENDERER), ask(gl.VERSION))
	return name, shader.Choose(ask(gl.RENDERER), os.Getenv(shader.Variable)), nil
}

// platform returns the window system to use: on Linux, X11 if there is one, because Wayland windows of the toolkit lack
// a frame on some desktops. The toolkit's variable FYNE_PLATFORM overrides that.
func platform() glfw.Platform {
	wanted := os.Getenv("FYNE_PLATFORM")
	switch {
	case runtime.GOOS != "linux":
		return glfw.AnyPlatform
	case wanted == "wayland", wanted != "x11" && os.Getenv("DISPLAY") == "":
		return glfw.PlatformWayland
	}
	return glfw.PlatformX11
}

// noRenderer returns the error if nothing can be drawn, with a hint.
func noRenderer(why string) error {
	why = strings.Join(strings.Fields(why), " ")
	switch {
	case strings.Contains(why, "open display"):
		return noAnswer(os.Getenv("DISPLAY"))
	case strings.Contains(why, "connect to display"):
		return noAnswer(os.Getenv("WAYLAND_DISPLAY"))
	case runtime.GOOS == "windows":
		return message.Errorf("no window: there is no driver for OpenGL 2 (%s); install the driver of the graphics "+
			"card, or put Mesa's opengl32.dll beside blik.exe; `blik-cli detect` works without one", why)
	}
	return message.Errorf("no window: there is no driver for OpenGL 2 (%s); install the graphics driver (Debian, "+
		"Ubuntu: libgl1-mesa-dri); `blik detect` works without one", why)
}

// noAnswer returns the error if a display cannot be reached.
func noAnswer(display string) error {
	return message.Errorf("no window: display %s does not respond; `blik detect` works without one", display)
}

// check returns an error if there is no screen.
func check() error {
	if runtime.GOOS == "linux" && os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return errNoDisplay
	}
	if platform() == glfw.PlatformWayland {
		return nil
	}
	return checkServer(os.Getenv("DISPLAY"))
}

// checkServer returns an error unless a local X server listens on display, given as ":0" or ":0.1"; the toolkit would
// panic. Displays of another form are left to the toolkit.
func checkServer(display string) error {
	number, local := strings.CutPrefix(display, ":")
	if runtime.GOOS != "linux" || !local {
		return nil
	}
	number, _, _ = strings.Cut(number, ".")
	for _, socket := range []string{"/tmp/.X11-unix/X" + number, "@/tmp/.X11-unix/X" + number} {
		if c, err := net.Dial("unix", socket); err == nil {
			return c.Close()
		}
	}
	return noAnswer(display)
}
