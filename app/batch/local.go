package batch

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"blik/app/device"
	"blik/app/farm"
	"blik/app/imagefile"
	"blik/internal/parallel"
	"blik/processing/detect"
	"blik/processing/network"
)

// Store returns the default folder of queues.
func Store() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "blik-farm"
	}
	return filepath.Join(dir, "blik", "farm")
}

// Slots divides this machine into slots: one for each GPU, and n for the CPU, which share its cores; n = 0 means one
// for every four cores. Without devices, all are used.
func Slots(devices []string, n int) []farm.Slot {
	cores := parallel.Processors()
	if n == 0 {
		n = max(1, (cores+3)/4)
	}
	if len(devices) == 0 {
		// "blik devices" reports why there is no GPU.
		found, _ := device.List()
		for _, d := range found {
			devices = append(devices, d.Name)
		}
	}
	var all []farm.Slot
	for _, name := range devices {
		if name != "cpu" {
			all = append(all, farm.Slot{Device: name, Threads: max(1, cores/4)})
			continue
		}
		for i := range n {
			all = append(all, farm.Slot{Device: "cpu", Threads: max(1, (cores+i)/n)})
		}
	}
	return all
}

// Process starts this program for each file.
func Process() (farm.Process, error) {
	path, err := os.Executable()
	return farm.Process{Program: path, Arguments: []string{"farm", "task"}}, err
}

// Worker returns the options that all workers of a version of the program share.
func Worker(version string) farm.WorkerOptions {
	limits := imagefile.DefaultLimits()
	limits.Work = detect.BytesPerPixel
	return farm.WorkerOptions{
		Program: version, Model: network.SHA256(), Budget: imagefile.AvailableMemory() / 10 * 9,
		Memory: func(file string) int64 { return imagefile.MemoryFor(file, limits) },
	}
}

// userRoots returns roots that permit everything the user may read and write, on the drives of some paths, and below
// named folders.
func userRoots(paths []string, named farm.Roots) (farm.Roots, error) {
	var all farm.Roots
	known := map[string]bool{}
	for _, path := range paths {
		full, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		top := filepath.VolumeName(full) + string(os.PathSeparator)
		if !known[top] {
			known[top] = true
			all = append(all, farm.Root{Folder: top}, farm.Root{Folder: top, Write: true})
		}
	}
	for _, r := range named {
		all = append(all, r)
		r.Write = true
		all = append(all, r)
	}
	return all, nil
}

// Host starts a queue in a folder, within this process, and returns it with the function that ends it. It is a function
// so that programs without a queue do not link the server.
type Host func(ctx context.Context, store string, log *slog.Logger) (farm.Inside, func(), error)
