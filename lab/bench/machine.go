package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"blik/app/i18n"
	"blik/internal/parallel"
	"blik/internal/simd"
)

// Machine describes the machine on which something was measured.
type Machine struct {
	// CPU is the product name of the processor, empty if the system does not report it.
	CPU string `json:"cpu"`
	// Cores is the number of processors that run goroutines.
	Cores int `json:"cores"`
	// Kernels is the level of the CPU kernels: "plain", "avx2", "avxvnni", "avx512" or "vnni".
	Kernels string `json:"kernels"`
	// GPUs are the product names of the GPUs that took part, one for each GPU.
	GPUs    []string  `json:"gpus"`
	System  string    `json:"system"`
	Go      string    `json:"go"`
	Version string    `json:"version"`
	Date    time.Time `json:"date"`
}

// ThisMachine describes the machine on which the program runs.
func ThisMachine(version string, now time.Time) Machine {
	return Machine{
		CPU: processorName(), Cores: parallel.Processors(), Kernels: simd.Chosen().String(), GPUs: []string{},
		System: runtime.GOOS + "/" + runtime.GOARCH,
		Go:     runtime.Version(), Version: version, Date: now,
	}
}

// processorName returns the product name of the first processor on Linux, empty elsewhere.
func processorName() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// tick is the unit in which Linux reports the times of processes (proc(5), USER_HZ).
const tick = 10 * time.Millisecond

// SinceStart returns how long the process has been running, rounded to 10 ms but at least that; 0 if the system does
// not report it.
func SinceStart() time.Duration {
	if runtime.GOOS != "linux" {
		return 0
	}
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	uptime, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0
	}
	// The second field is the program's name in brackets, which may itself contain brackets. The start time is field
	// 22.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	var ticks int64
	var up float64
	if len(fields) < 20 {
		return 0
	}
	if _, err := fmt.Sscan(fields[19], &ticks); err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(uptime), &up); err != nil {
		return 0
	}
	ran := time.Duration(up*float64(time.Second)) - time.Duration(ticks)*tick
	if ticks == 0 || ran < -tick {
		// Some containers report no start, or have a separate clock for one of the two.
		return 0
	}
	return max(ran.Round(tick), tick)
}

// line describes the machine in one line.
func (m Machine) line(tr *i18n.Printer) string {
	cpu := m.CPU
	if cpu == "" {
		cpu = m.System
	}
	gpus := tr.Sprintf("no GPU")
	if len(m.GPUs) > 0 {
		gpus = alike(m.GPUs)
	}
	return tr.Sprintf("%s, %d cores, kernels: %s; %s; %s; %s; blik %s; %s",
		cpu, m.Cores, m.Kernels, gpus, m.System, m.Go, m.Version, m.Date.Format("2006-01-02 15:04"))
}

// alike joins names to a list in which equal names appear once, with their number: "2 × NVIDIA H200, Tesla T4".
func alike(names []string) string {
	var parts []string
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		n := 0
		for _, other := range names {
			if other == name {
				n++
			}
		}
		if n > 1 {
			name = fmt.Sprintf("%d × %s", n, name)
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, ", ")
}
