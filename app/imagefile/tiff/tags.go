package tiff

// Tags of TIFF 6.0, its technical notes and the metadata standards that live in it.
const (
	tagOldSubfileType  = 255
	tagSubfileType     = 254
	tagWidth           = 256
	tagLength          = 257
	tagBitsPerSample   = 258
	tagCompression     = 259
	tagPhotometric     = 262
	tagFillOrder       = 266
	tagDescription     = 270
	tagStripOffsets    = 273
	tagSamples         = 277
	tagRowsPerStrip    = 278
	tagStripByteCounts = 279
	tagMinSample       = 280
	tagMaxSample       = 281
	tagPlanar          = 284
	tagFreeOffsets     = 288
	tagFreeCounts      = 289
	tagT4Options       = 292
	tagT6Options       = 293
	tagTransfer        = 301
	tagPredictor       = 317
	tagColorMap        = 320
	tagTileWidth       = 322
	tagTileLength      = 323
	tagTileOffsets     = 324
	tagTileByteCounts  = 325
	tagSubIFDs         = 330
	tagInkSet          = 332
	tagExtraSamples    = 338
	tagSampleFormat    = 339
	tagSMinSample      = 340
	tagSMaxSample      = 341
	tagJPEGTables      = 347
	tagJPEGOffset      = 513
	tagJPEGLength      = 514
	// Those of YCbCr.
	tagYCbCrCoefficients   = 529
	tagYCbCrSubsampling    = 530
	tagYCbCrPositioning    = 531
	tagReferenceBlackWhite = 532
	tagXMP                 = 700
	tagIPTC                = 33723
	tagPhotoshop           = 34377
	tagICC                 = 34675
	tagLayers              = 37724
	tagXPComment           = 40092
	// tagCredentials holds content credentials (C2PA 2.1, A.3.6).
	tagCredentials = 52545
	tagDNGVersion  = 50706
)

// formatFloat is the value of tag 339 for floating-point samples.
const formatFloat = 3

// Photometric interpretations.
const (
	whiteIsZero      = 0
	blackIsZero      = 1
	photometricRGB   = 2
	photometricIndex = 3
	photometricMask  = 4
	photometricInk   = 5
	photometricYCbCr = 6
)

// compression is a scheme of TIFF's tag 259.
type compression uint16

const (
	compNone     compression = 1
	compG3       compression = 3
	compG4       compression = 4
	compLZW      compression = 5
	compJPEG     compression = 7
	compDeflate  compression = 8
	compPackBits compression = 32773
	compOldZip   compression = 32946
)

func (c compression) String() string {
	return map[compression]string{
		compNone: "none", compG3: "CCITT G3", compG4: "CCITT G4", compLZW: "LZW", compJPEG: "JPEG",
		compDeflate: "Deflate", compOldZip: "Deflate", compPackBits: "PackBits",
	}[c]
}

// expansion returns the maximum number of bytes of samples that one byte can encode; 0 if there is no useful bound.
func (c compression) expansion() int64 {
	switch c {
	case compNone:
		return 1
	case compLZW:
		// A code of 12 bits encodes one string of the table, which has fewer than 4096 bytes.
		return 2731
	case compDeflate, compOldZip:
		// RFC 1951: 258 bytes for two bits.
		return 1032
	case compPackBits:
		return 64
	case compJPEG:
		// A block of 64 samples takes at least one bit; a chroma sample may cover four pixels.
		return 1536
	}
	return 0
}

// Predictors of tag 317.
const (
	predictNone       = 1
	predictHorizontal = 2
	predictFloat      = 3
)
