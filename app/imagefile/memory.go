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

// memory is the machine's memory in bytes; 0 where the system does not report it.
type memory struct{ total, available int64 }

// MachineMemory returns the memory of the machine, or the smaller limit that holds for the process, and how much of it
// is available, in bytes; 0 where the system does not report it.
func MachineMemory() (total, available int64) {
	m := machineMemory()
	return m.total, m.available
}

// machineMemory reads the account of the system; where a control group that the process is in (a container, a slice of
// systemd) or a limit of its address space leaves less, that.
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

// within lowers the account to a part of the memory: its limit, 0 for none, and what of it is left.
func (m *memory) within(limit, left int64) {
	if limit <= 0 || m.total > 0 && limit > m.total && left > m.available {
		return
	}
	if m.total == 0 || limit < m.total {
		m.total = limit
	}
	m.available = min(m.available, max(1, left))
}

// group is a control group, by its path from the mount of its hierarchy; of the first version, whose controllers have
// hierarchies of their own, or of the second.
type group struct {
	path  string
	first bool
}

// groupsOf reads /proc/self/cgroup (cgroups(7)): the groups of the process that account for memory, and those above
// them, the limits of which hold, too.
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

// limit returns the limit of a group, 0 for none, and what of it is left.
func (g group) limit(mount string) (limit, left int64) {
	dir, names := filepath.Join(mount, g.path), [2]string{"memory.max", "memory.current"}
	if g.first {
		dir = filepath.Join(mount, "memory", g.path)
		names = [2]string{"memory.limit_in_bytes", "memory.usage_in_bytes"}
	}
	limit, used := readNumber(filepath.Join(dir, names[0])), readNumber(filepath.Join(dir, names[1]))
	// Pages of files that nobody has used lately are given back when memory is needed.
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
