package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"blik/app/device"
	"blik/processing"

	"github.com/spf13/cobra"
)

// runner runs jobs on a device; device.Runner, or in tests a backend alone.
type runner interface {
	Run(ctx context.Context, pixels int, job func(ctx context.Context, b processing.Backend) error) (notice *processing.Text, err error)
	Close() error
}

// direct runs jobs on one backend, come what may.
type direct struct{ processing.Backend }

func (d direct) Run(ctx context.Context, _ int, job func(ctx context.Context, b processing.Backend) error) (*processing.Text, error) {
	return nil, job(ctx, d.Backend)
}

// openDevice opens the device of a name that device.Check has passed.
func (p *program) openDevice(ctx context.Context, name string) (runner, error) {
	if p.backend != nil {
		b, err := p.backend()
		return direct{b}, err
	}
	r, err := device.Open(ctx, name)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("--device %s: %s", name, device.Explain(err).In(p.lang))
	}
	return r, nil
}

// completeDevices offers the names of what is there.
func completeDevices(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names := []string{"auto"}
	found, _ := device.List()
	for _, d := range found {
		names = append(names, d.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (p *program) devicesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "devices",
		Short: p.say("List what detection and correction can run on", "Показать, на чём могут выполняться поиск и исправление"),
		Long: p.say(`Lists the CPU and the NVIDIA GPUs that --device can name, and says why there is no GPU where there is none.`,
			`Перечисляет процессор и видеокарты NVIDIA, которые можно назвать в --device, и говорит, почему видеокарты нет, если её нет.`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			found, why := device.List()
			var text strings.Builder
			table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
			for _, d := range found {
				if d.Memory == 0 {
					fmt.Fprintln(table, d.Name)
					continue
				}
				fmt.Fprintf(table, p.say("%s\t%s\t%.1f GiB\tcompute capability %d.%d\tCUDA %s\n",
					"%s\t%s\t%.1f ГиБ\tвычислительные возможности %d.%d\tCUDA %s\n"),
					d.Name, d.Title, float64(d.Memory)/(1<<30), d.Capability/10, d.Capability%10, d.Driver)
			}
			if err := table.Flush(); err != nil {
				return err
			}
			if why != nil {
				fmt.Fprintln(&text, device.Explain(why).In(p.lang))
			}
			_, err := fmt.Fprint(p.Stdout, text.String())
			return err
		},
	}
}
