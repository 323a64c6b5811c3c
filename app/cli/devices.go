package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"blik/app/device"
	"blik/app/session"
	"blik/app/settings"
	"blik/internal/message"
	"blik/processing"

	"github.com/spf13/cobra"
)

// runner runs jobs on a device: a device.Runner, or in tests a single backend.
type runner interface {
	session.Runner
	Close() error
}

// direct runs all jobs on one backend.
type direct struct{ processing.Backend }

func (d direct) Run(ctx context.Context, _ int, job device.Job) (*message.Message, error) {
	return nil, job(ctx, d.Backend)
}

// addDevice declares the flag for the device.
func addDevice(p *program, c *cobra.Command, name *string) {
	c.Flags().StringVar(name, "device", "auto",
		p.say("`DEVICE` to compute on: auto, cpu, cuda or cuda:N, as listed by blik devices"))
	must(c.RegisterFlagCompletionFunc("device", completeDevices))
}

// checkDevice refuses an invalid device name.
func (p *program) checkDevice(name string) error {
	if device.Check(name) != nil {
		return p.usage("--device %s: must be auto, cpu, cuda or cuda:N", name)
	}
	return nil
}

// deviceFailure explains why the named device cannot be used, and lists the existing ones if only the number is wrong.
func deviceFailure(p *program, name string, why message.Message) string {
	found, _ := device.List()
	return name + ": " + p.tr.Sprint(why) + otherDevices(p, name, found)
}

// otherDevices lists the devices found if there are GPUs but none with this name.
func otherDevices(p *program, name string, found []device.Device) string {
	names := deviceNames(found)
	if len(names) < 2 || name == "cuda" || slices.Contains(names, name) {
		return ""
	}
	return p.say(" There are ") + strings.Join(names, ", ") + "."
}

func deviceNames(found []device.Device) []string {
	names := make([]string, len(found))
	for i, d := range found {
		names[i] = d.Name
	}
	return names
}

// openDevice opens the device of a name that device.Check accepts.
func (p *program) openDevice(ctx context.Context, name string) (runner, error) {
	if p.backend != nil {
		b, err := p.backend()
		return direct{b}, err
	}
	r, err := device.OpenAsync(ctx, name)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, errors.New("--device " + deviceFailure(p, name, device.Explain(err)))
	}
	return r, nil
}

// completeDevices offers the existing devices.
func completeDevices(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	found, _ := device.List()
	return append([]string{"auto"}, deviceNames(found)...), cobra.ShellCompDirectiveNoFileComp
}

// automaticText describes what --device auto does with a GPU.
func automaticText(p *program, name string, s settings.Speed, measured bool) string {
	if !measured {
		return p.say("%s: the first use of --device auto measures from what size on the GPU is faster", name)
	}
	from := p.say("the GPU is always faster")
	switch n := s.From(); n {
	case 0:
	case math.MaxInt:
		from = p.say("the GPU is never faster")
	default:
		from = p.say("the GPU is faster from %.2f megapixels", float64(n)/1e6)
	}
	ms := func(t time.Duration) float64 { return t.Seconds() * 1e3 }
	return p.say("%s: measured for --device auto: %s; detection takes %.1f + %.1f ms per megapixel on the CPU, "+
		"%.1f + %.1f ms on the GPU, which takes %.0f ms to start",
		name, from, ms(s.CPU.Fixed), ms(s.CPU.Megapixel), ms(s.GPU.Fixed), ms(s.GPU.Megapixel), ms(s.Open))
}

func devicesCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "devices",
		Short: p.say("List what detection and correction can run on"),
		Long: p.say(`Lists the CPU and the NVIDIA GPUs that --device accepts, or says why there is no GPU. --device
auto runs each picture on the device that is faster for its size. The speeds are measured with detection, once for a
GPU, a driver and a build of the program; correction uses the same limit.`),
		Args: exactly(p, 0),
		RunE: printed(p, deviceList),
	}
}

// deviceList describes the devices, and says why there is no GPU.
func deviceList(p *program) (string, error) {
	found, why := device.List()
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, d := range found {
		if d.Memory == 0 {
			fmt.Fprintln(table, d.Name)
			continue
		}
		fmt.Fprint(table, p.say("%s\t%s\t%.1f GiB\tcompute capability %d.%d\tCUDA %s\n",
			d.Name, d.Title, float64(d.Memory)/(1<<30), d.Capability/10, d.Capability%10, d.Driver))
	}
	if err := table.Flush(); err != nil {
		return "", err
	}
	if why == nil {
		// auto uses the first GPU, which follows the CPU in the list.
		speed, measured := found[1].Measured()
		fmt.Fprintln(&text, automaticText(p, found[1].Name, speed, measured))
	} else {
		fmt.Fprintln(&text, p.tr.Sprint(device.Explain(why)))
	}
	return text.String(), nil
}
