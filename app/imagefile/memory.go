package imagefile

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// memory is the machine's memory in bytes; 0 where the system does not report it.
type memory struct{ total, available int64 }

// machineMemory reads the account of the system, and where a control group (a container) has less left, that.
func machineMemory() memory {
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return memory{}
	}
	defer file.Close()
	m := parseMemory(file)
	for _, group := range [][3]string{
		{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"},
		{
			"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
			"/sys/fs/cgroup/memory/memory.stat",
		},
	} {
		limit, used := readNumber(group[0]), readNumber(group[1])
		if limit <= 0 || m.total > 0 && limit > m.total {
			continue
		}
		m.total = limit
		// Pages of files that nobody has used lately are given back when memory is needed.
		m.available = min(m.available, max(1, limit-used+reclaimable(group[2])))
	}
	return m
}

// parseMemory reads /proc/meminfo (proc_meminfo(5)).
func parseMemory(r io.Reader) (m memory) {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		var kib int64
		switch {
		case scan(lines.Text(), "MemTotal: %d kB", &kib):
			m.total = kib << 10
		case scan(lines.Text(), "MemAvailable: %d kB", &kib):
			m.available = kib << 10
		}
	}
	return m
}

func scan(text, format string, v *int64) bool {
	_, err := fmt.Sscanf(text, format, v)
	return err == nil
}

// readNumber reads a file of one number; 0 where there is none, as where a limit is "max".
func readNumber(path string) int64 {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// reclaimable reads the inactive pages of files in a control group's memory.stat.
func reclaimable(path string) int64 {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		var n int64
		if scan(line, "inactive_file %d", &n) {
			return n
		}
	}
	return 0
}
