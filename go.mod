module blik

go 1.26

require (
	fyne.io/fyne/v2 v2.7.3 // indirect
	github.com/TheTitanrain/w32 v0.0.0-20180517000239-4f5cfb03fabf // indirect
	github.com/disintegration/imaging v1.6.2 // indirect
	github.com/hhrutter/tiff v1.0.6 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/cobra v1.10.2 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
	github.com/sqweek/dialog v0.0.0-20240226140203-065105509627 // indirect
	golang.org/x/image v0.44.0 // indirect
	golang.org/x/sys v0.39.0 // indirect
	golang.org/x/term v0.38.0 // indirect
	pgregory.net/rapid v1.2.0 // indirect
)
