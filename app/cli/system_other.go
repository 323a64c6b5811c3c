//go:build !linux && !windows

package cli

import (
	"os"
	"regexp"
	"runtime"
)

// systemName returns the name of the system: "macOS 15.1", or Go's name for it.
func systemName() string {
	if runtime.GOOS == "darwin" {
		list, _ := os.ReadFile("/System/Library/CoreServices/SystemVersion.plist")
		version := regexp.MustCompile(`<key>ProductVersion</key>\s*<string>([^<]*)`).FindSubmatch(list)
		if version != nil {
			return "macOS " + string(version[1])
		}
	}
	return runtime.GOOS
}
