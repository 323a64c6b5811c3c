package imagefile

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// memory is the machine's memory in bytes; 0 if the system does not report it.
type memory struct{ total, available int64 }

// MachineMemory returns the memory of the machine, or the smaller limit of the process, and how much of it is
// available, in bytes; 0 if the system does not report it.
func MachineMemory() (total, available int64) {
	m := machineMemory()
	return m.total, m.available
}

// machineMemory returns the memory that the system reports, or less if a control group of the process (a container, a
// systemd slice) or an address space limit leaves less.
func machineMemory() memory {
	if m, known := physicalMemory(); known {
		return m
	}
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return memory{}
	}
	defer file.Close()
	m := parseMemory(file)
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err == nil {
		for _, g := range groupsOf(string(groups)) {
			m.within(g.limit("/sys/fs/cgroup"))
		}
	}
	m.within(addressSpace())
	return m
}

// AddressSpace returns the part of the address space limit that is available to the heap; 0 without a limit. The
// runtime then has to collect garbage before it asks the system for more.
func AddressSpace() int64 {
	limit, left := addressSpace()
	if limit == 0 {
		return 0
	}
	return max(left, 1<<20)
}

// within reduces the memory to a limit, 0 for none, and to the unused part of that limit.
func (m *memory) within(limit, left int64) {
	if limit <= 0 || m.total > 0 && limit > m.total && left > m.available {
		return
	}
	if m.total == 0 || limit < m.total {
		m.total = limit
	}
	m.available = min(m.available, max(1, left))
}

// group is a control group, identified by its path below the mount point of its hierarchy: of version 1, with a
// hierarchy for each controller, or of version 2.
type group struct {
	path  string
	first bool
}

// groupsOf reads /proc/self/cgroup (cgroups(7)): the process's memory control groups and their ancestors, whose limits
// also apply.
func groupsOf(text string) []group {
	var all []group
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		second := fields[0] == "0" && fields[1] == ""
		if !second && !slices.Contains(strings.Split(fields[1], ","), "memory") {
			continue
		}
		for name := path.Clean("/" + fields[2]); ; name = path.Dir(name) {
			all = append(all, group{name, !second})
			if name == "/" {
				break
			}
		}
	}
	return all
}

// limit returns the limit of a group, 0 for none, and the unused part of it.
func (g group) limit(mount string) (limit, left int64) {
	dir, names := filepath.Join(mount, g.path), [2]string{"memory.max", "memory.current"}
	if g.first {
		dir = filepath.Join(mount, "memory", g.path)
		names = [2]string{"memory.limit_in_bytes", "memory.usage_in_bytes"}
	}
	limit, used := readNumber(filepath.Join(dir, names[0])), readNumber(filepath.Join(dir, names[1]))
	// The system reclaims inactive file pages when memory is needed.
	return limit, limit - used + reclaimable(filepath.Join(dir, "memory.stat"))
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

// readNumber reads a file that holds one number; 0 if there is none, as for a limit of "max".
func readNumber(path string) int64 {
	data, _ := os.ReadFile(path) // empty if there is no such file
	n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// reclaimable reads the inactive file pages from a control group's memory.stat.
func reclaimable(path string) int64 {
	data, _ := os.ReadFile(path) // empty if there is no such file
	for line := range strings.Lines(string(data)) {
		var n int64
		if scan(line, "inactive_file %d", &n) {
			return n
		}
	}
	return 0
}
