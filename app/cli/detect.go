package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"blik/app/imagefile"
	"blik/app/preset"
	"blik/app/report"
	"blik/processing"

	"github.com/spf13/cobra"
)

// detection is one run of `blik detect`.
type detection struct {
	*program
	params processing.Params
	region *processing.Region
	limits imagefile.Limits
	device processing.Backend
	quiet  bool
	timing bool
	bar    *bar
}

func (p *program) detectCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "detect [flags] -o " + p.say("DIR FILE", "ПАПКА ФАЙЛ") + "…",
		Short: p.say("Find glare in pictures; write masks and findings", "Найти блики на изображениях; записать маски и находки"),
		Long: p.say(`Finds glare in PNG, JPEG and TIFF pictures. For each FILE it writes into DIR

  NAME_mask.png       8-bit mask, 255 = glare, 0 = not
  NAME_findings.csv   a line for each glint
  NAME_findings.json  everything known, with the values used
  NAME_marked.png     the picture with the glints outlined (with --marked)

where NAME is the file's name without its ending. By default the program measures each picture and chooses every value
itself (--auto); giving a manual parameter switches to manual mode unless --mode says otherwise.

Exit status: 0 done, 1 some file failed (the others are done), 2 wrong use, 130 cancelled.`,
			`Находит блики на изображениях PNG, JPEG и TIFF. Для каждого ФАЙЛА записывает в ПАПКУ

  ИМЯ_mask.png       8-битную маску: 255 — блик, 0 — нет
  ИМЯ_findings.csv   строку на каждый блик
  ИМЯ_findings.json  все сведения и использованные значения
  ИМЯ_marked.png     картину с обведёнными бликами (с --marked)

где ИМЯ — имя файла без расширения. По умолчанию программа сама измеряет картину и выбирает все значения (--auto); ручной
параметр включает ручной режим, если --mode не говорит иное.

Код завершения: 0 — готово, 1 — какой-то файл не удался (остальные готовы), 2 — неверный вызов, 130 — прервано.`),
		ValidArgsFunction: completePictures,
	}
	d := &detection{program: p}
	var (
		out, region, device string
		marked              bool
		limit               float64
	)
	f := c.Flags()
	f.StringVarP(&out, "output", "o", ".", p.say("write into folder `DIR`, made if missing", "`ПАПКА` для результатов; создаётся, если её нет"))
	f.BoolVar(&marked, "marked", false, p.say("also write the picture with the glints outlined", "записать и картину с обведёнными бликами"))
	f.StringVar(&region, "region", "", p.say("search only in this `REGION` (pixels): rect:x,y,w,h, ellipse:x,y,w,h or polygon:x,y,x,y,…",
		"`ОБЛАСТЬ` поиска (пиксели): rect:x,y,w,h, ellipse:x,y,w,h или polygon:x,y,x,y,…"))
	f.StringVar(&device, "device", "auto", p.say("`DEVICE` to compute on: auto or cpu", "`УСТРОЙСТВО` для вычислений: auto или cpu"))
	f.BoolVar(&d.timing, "timing", false, p.say("print the time of each stage, and the peak memory", "вывести время каждого этапа и пик памяти"))
	f.BoolVarP(&d.quiet, "quiet", "q", false, p.say("print nothing but errors", "выводить только ошибки"))
	f.Float64Var(&limit, "limit", 1000, p.say("refuse pictures of more than `N` megapixels", "не читать изображения больше `N` мегапикселей"))
	must(c.RegisterFlagCompletionFunc("device", cobra.FixedCompletions(devices(), cobra.ShellCompDirectiveNoFileComp)))
	must(c.MarkFlagDirname("output"))
	params := p.addParams(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		ctx := c.Context()
		var err error
		if d.params, err = params.params(); err != nil {
			return err
		}
		if region != "" {
			if d.region, err = processing.ParseRegion(region); err != nil {
				return p.usage("--region: %v", "--region: %v", err)
			}
		}
		if !slices.Contains(devices(), device) {
			return p.usage("--device %s: must be one of %s", "--device %s: допустимы %s", device, strings.Join(devices(), ", "))
		}
		if !(limit > 0 && limit <= 1e6) {
			return p.usage("--limit %g: must be a positive number of megapixels", "--limit %g: нужно положительное число мегапикселей", limit)
		}
		d.limits = imagefile.DefaultLimits()
		d.limits.Pixels = int64(limit * 1e6)
		inputs := expand(args)
		if len(inputs) == 0 && params.savePreset == "" {
			return p.usage("no files given", "не указаны файлы")
		}
		jobs, err := p.plan(inputs, out, marked)
		if err != nil {
			return err
		}
		if params.savePreset != "" {
			if err := preset.Write(ctx, params.savePreset, d.params); err != nil {
				return err
			}
		}
		if len(jobs) == 0 {
			return nil
		}
		if err := p.makeFolder(out); err != nil {
			return err
		}
		if d.device, err = p.backend(device); err != nil {
			return err
		}
		defer d.device.Close()
		return d.all(ctx, jobs)
	}
	return c
}

// makeFolder makes the output folder with its parents.
func (p *program) makeFolder(dir string) error {
	err := os.MkdirAll(dir, 0o777)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf(p.say("%s: no permission to make this folder", "%s: нет прав создать эту папку"), dir)
	}
	if info, e := os.Stat(dir); e == nil && !info.IsDir() {
		return fmt.Errorf(p.say("%s: this is a file, not a folder", "%s: это файл, а не папка"), dir)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf(p.say("%s: the folder cannot be made (%w)", "%s: папку не удаётся создать (%w)"), dir, err)
}

// all does the jobs one after the other, each with all processors. One that fails is reported and the others go on.
func (d *detection) all(ctx context.Context, jobs []job) error {
	if !d.quiet {
		d.bar = newBar(d.Stderr)
		defer d.bar.close()
	}
	failed := false
	for i, j := range jobs {
		progress := func(stage string, share float64) {
			d.bar.set(fmt.Sprintf("%d/%d %s", i+1, len(jobs), filepath.Base(j.input)), stage, (float64(i)+share)/float64(len(jobs)))
		}
		text, err := d.guarded(ctx, j, progress)
		d.bar.clear()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = true
			d.complain(err)
			continue
		}
		if _, err := io.WriteString(d.Stdout, text); err != nil {
			return err
		}
	}
	if failed {
		return errReported
	}
	return nil
}

// guarded does a job and makes an error of a panic, so that the other files are still done.
func (d *detection) guarded(ctx context.Context, j job, progress func(string, float64)) (text string, err error) {
	defer func() {
		if r := recover(); r != nil {
			where := ""
			if d.Recovered != nil {
				where = d.Recovered(r, debug.Stack())
			}
			err = fmt.Errorf(d.say("%s: internal error: %v", "%s: внутренняя ошибка: %v"), j.input, r)
			if where != "" {
				err = fmt.Errorf(d.say("%w; details in %s", "%w; подробности в %s"), err, where)
			}
		}
	}()
	return d.one(ctx, j, progress)
}

// Reading and writing are these shares of the work on a file, roughly.
const (
	shareRead  = 0.15
	shareWrite = 0.1
)

// one does a job and returns what to print about it.
func (d *detection) one(ctx context.Context, j job, progress func(string, float64)) (string, error) {
	start := time.Now()
	progress(d.say("reading", "чтение"), 0)
	file, err := imagefile.Read(ctx, j.input, d.limits)
	if err != nil {
		return "", err
	}
	read := time.Since(start)
	pic := file.Picture
	if d.region != nil {
		if err := d.region.Validate(pic.Width, pic.Height); errors.Is(err, processing.ErrRegionOutside) {
			return "", fmt.Errorf(d.say("%s: the region %s lies outside the picture of %d × %d pixels",
				"%s: область %s лежит вне изображения %d × %d пикселей"), j.input, d.region, pic.Width, pic.Height)
		}
	}
	res, err := processing.Detect(ctx, d.device, pic, d.params, processing.Options{
		Region: d.region,
		Progress: func(stage processing.Text, done float64) {
			progress(stage.In(d.lang), shareRead+done*(1-shareRead-shareWrite))
		},
	})
	if err != nil {
		return "", fmt.Errorf("%s: %w", j.input, err)
	}
	progress(d.say("writing", "запись"), 1-shareWrite)
	writing := time.Now()
	if err := d.write(ctx, j, pic, res); err != nil {
		return "", err
	}
	wrote, total := time.Since(writing), time.Since(start)

	var b strings.Builder
	if !d.quiet {
		d.summary(&b, j, res)
	}
	if d.timing {
		d.timings(&b, j, pic, res, read, wrote, total)
	}
	return b.String(), nil
}

func (d *detection) write(ctx context.Context, j job, pic *processing.Picture, res *processing.Result) error {
	if j.marked != "" {
		marked, err := report.Marked(ctx, pic, res.Mask)
		if err == nil {
			err = imagefile.WritePNG(ctx, j.marked, marked)
		}
		if err != nil {
			return err
		}
	}
	r := report.Report{
		File: filepath.Base(j.input), Program: d.Version, Picture: pic, Region: d.region, Mode: d.params.Mode, Result: res,
	}
	if err := imagefile.WriteFile(ctx, j.csv, func(w io.Writer) error { return report.WriteCSV(w, r) }); err != nil {
		return err
	}
	if err := imagefile.WriteFile(ctx, j.json, func(w io.Writer) error { return report.WriteJSON(w, r) }); err != nil {
		return err
	}
	return imagefile.WriteMask(ctx, j.mask, res.Mask)
}

// summary prints what was found, where it was written, and what adaptive mode chose and why.
func (d *detection) summary(b *strings.Builder, j job, res *processing.Result) {
	area := res.Mask.Area()
	fmt.Fprintf(b, d.say("%s: findings: %d; mask: %d px (%.3f %%) → %s\n", "%s: находок: %d; маска: %d пкс (%.3f %%) → %s\n"),
		j.input, len(res.Findings), area, 100*float64(area)/float64(len(res.Mask.Pix)), j.mask)
	names, values := make([]string, len(res.Chosen)), make([]string, len(res.Chosen))
	wide, long := 0, 0
	for i, c := range res.Chosen {
		names[i] = c.Name.In(d.lang)
		values[i] = strings.TrimSpace(number(c) + " " + c.Unit.In(d.lang))
		wide, long = max(wide, utf8.RuneCountInString(names[i])), max(long, utf8.RuneCountInString(values[i]))
	}
	for i, c := range res.Chosen {
		fmt.Fprintf(b, "  %s  %s  %s\n", column(names[i], wide), column(values[i], long), c.Why.In(d.lang))
	}
}

// number writes a chosen value as its parameter does, a measured figure with four significant digits.
func number(c processing.Chosen) string {
	if s, ok := processing.SpecByID(c.ID); ok && s.Check(c.Value) == nil && s.Kind != processing.KindReal {
		return s.Format(c.Value)
	}
	return fmt.Sprintf("%.4g", c.Value)
}

// timings prints the time of each stage and the peak memory of the process so far.
func (d *detection) timings(b *strings.Builder, j job, pic *processing.Picture, res *processing.Result, read, wrote, total time.Duration) {
	stages := []processing.StageTime{{Name: d.say("read file", "чтение файла"), Time: read}}
	stages = append(stages, res.Timings...)
	stages = append(stages, processing.StageTime{Name: d.say("write files", "запись файлов"), Time: wrote})
	name := d.say("total", "всего")
	wide := utf8.RuneCountInString(name)
	for _, s := range stages {
		wide = max(wide, utf8.RuneCountInString(s.Name))
	}
	fmt.Fprintf(b, d.say("%s: %d × %d, %d channels of %d bits, device %s\n", "%s: %d × %d, каналов %d по %d бит, устройство %s\n"),
		j.input, pic.Width, pic.Height, pic.Channels, pic.Depth(), res.Device)
	for _, s := range append(stages, processing.StageTime{Name: name, Time: total}) {
		fmt.Fprintf(b, "  %s %9.1f ms %5.1f %%\n", column(s.Name, wide), float64(s.Time)/1e6, 100*float64(s.Time)/float64(max(total, 1)))
	}
	if peak := peakMemory(); peak > 0 {
		fmt.Fprintf(b, d.say("  peak memory %d MiB\n", "  пик памяти %d МиБ\n"), peak>>20)
	}
}
