package cli

import (
	"context"
	"fmt"
	"strings"

	"blik/app/imagefile"
	"blik/processing"

	"github.com/spf13/cobra"
)

func (p *program) verifyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "verify [flags] " + p.say("SOURCE RESULT", "ИСХОДНЫЙ РЕЗУЛЬТАТ"),
		Short: p.say("Prove that only pixels in the mask changed", "Доказать, что изменились только пиксели маски"),
		Long: p.say(`Compares two picture files: every colour sample of every pixel, profile, EXIF, XMP, IPTC, resolution, orientation, size
and depth; two uncompressed TIFFs byte by byte as well, and so also their other tags, alpha, extra channels and pages.

With --mask, pixels outside it must be the same; it has to hold the halo, too, as the mask of correct --save-mask does.
Without it the changed pixels are counted.

Exit status: 0 proven, 1 not, or a file cannot be read, 2 wrong use, 130 cancelled.`,
			`Сравнивает два файла изображений: каждое значение цвета каждого пикселя, профиль, EXIF, XMP, IPTC, разрешение,
ориентацию, размер и глубину; два TIFF без сжатия — ещё и побайтно, а значит, и прочие теги, прозрачность, дополнительные
каналы и страницы.

С --mask пиксели вне маски должны совпадать; в ней должен быть и ореол, как в маске от correct --save-mask. Без маски
изменённые пиксели подсчитываются.

Код завершения: 0 — доказано, 1 — нет или файл не читается, 2 — неверный вызов, 130 — прервано.`),
		Args:              p.exactly(2),
		ValidArgsFunction: completePictures,
	}
	f := c.Flags()
	path := f.String("mask", "", p.say("the mask, a picture `FILE`", "маска, `ФАЙЛ` изображения"))
	quiet := f.BoolP("quiet", "q", false, p.say("print nothing but errors", "выводить только ошибки"))
	c.RunE = func(c *cobra.Command, args []string) error {
		proof, err := verify(c.Context(), args[0], args[1], *path)
		if err != nil {
			return err
		}
		if !*quiet {
			fmt.Fprint(p.Stdout, p.proofText(proof))
		}
		if !proof.Holds() {
			return errReported
		}
		return nil
	}
	return c
}

func verify(ctx context.Context, source, result, maskPath string) (*imagefile.Proof, error) {
	var mask *processing.Mask
	if maskPath != "" {
		var err error
		if mask, err = imagefile.ReadMask(ctx, maskPath, 0, 0); err != nil {
			return nil, err
		}
	}
	return imagefile.Verify(ctx, source, result, mask, imagefile.DefaultLimits())
}

// proofText is a proof in figures and in a sentence.
func (p *program) proofText(proof *imagefile.Proof) string {
	var b strings.Builder
	line := func(en, ru string, args ...any) { fmt.Fprintf(&b, p.say(en, ru)+"\n", args...) }
	line("pixels changed: %d of %d", "изменено пикселей: %d из %d", proof.Changed, int64(proof.Width)*int64(proof.Height))
	if proof.MaskArea >= 0 {
		line("pixels in the mask: %d", "пикселей в маске: %d", proof.MaskArea)
		line("pixels changed outside the mask: %d", "изменено пикселей вне маски: %d", proof.Outside)
	}
	for _, at := range proof.First {
		line("  at %d, %d", "  %d, %d", at.X, at.Y)
	}
	if proof.ByByte {
		line("bytes changed: %d, of them other than samples of changed pixels: %d", "изменено байтов: %d, из них не значений изменённых пикселей: %d",
			proof.BytesChanged, proof.BytesOutside)
	}
	fmt.Fprintln(&b, proof.Statement().In(p.lang))
	return b.String()
}
