package cli

import (
	"bytes"
	"os"
	"strings"
)

// systemName returns the name of the system: "Debian GNU/Linux 12 (bookworm), Linux 6.1.0".
func systemName() string {
	name := "Linux"
	release, err := os.ReadFile("/etc/os-release")
	if err != nil {
		release, _ = os.ReadFile("/usr/lib/os-release")
	}
	for line := range strings.Lines(string(release)) {
		if v, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			name = strings.Trim(v, "\"'\n")
		}
	}
	if kernel, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		name += ", Linux " + string(bytes.TrimSpace(kernel))
	}
	return name
}
