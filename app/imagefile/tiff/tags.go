package tiff

// Tags of TIFF 6.0, its technical notes and the metadata standards that live in it.
const (
	tagSubfileType     = 254
	tagWidth           = 256
	tagLength          = 257
	tagBitsPerSample   = 258
	tagCompression     = 259
	tagPhotometric     = 262
	tagFillOrder       = 266
	tagStripOffsets    = 273
	tagOrientation     = 274
	tagSamples         = 277
	tagRowsPerStrip    = 278
	tagStripByteCounts = 279
	tagMinSample       = 280
	tagMaxSample       = 281
	tagXResolution     = 282
	tagYResolution     = 283
	tagPlanar          = 284
	tagT4Options       = 292
	tagT6Options       = 293
	tagResolutionUnit  = 296
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
	tagXMP             = 700
	tagIPTC            = 33723
	tagPhotoshop       = 34377
	tagEXIF            = 34665
	tagICC             = 34675
	tagGPS             = 34853
	tagLayers          = 37724
	tagInterop         = 40965
	tagDNGVersion      = 50706
)

// kind is the type of an entry's values.
type kind uint16

const (
	kindByte      kind = 1
	kindASCII     kind = 2
	kindShort     kind = 3
	kindLong      kind = 4
	kindRational  kind = 5
	kindUndefined kind = 7
	kindIFD       kind = 13
	kindLong8     kind = 16
	kindIFD8      kind = 18
)

// size returns the bytes of a value, 0 for a kind that is not known.
func (k kind) size() int64 {
	switch k {
	case 1, 2, 6, 7:
		return 1
	case 3, 8:
		return 2
	case 4, 9, 11, 13:
		return 4
	case 5, 10, 12, 16, 17, 18:
		return 8
	}
	return 0
}

// whole says whether values of the kind are unsigned whole numbers.
func (k kind) whole() bool {
	switch k {
	case kindByte, kindShort, kindLong, kindIFD, kindLong8, kindIFD8:
		return true
	}
	return false
}

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
	switch c {
	case compNone:
		return "none"
	case compG3:
		return "CCITT G3"
	case compG4:
		return "CCITT G4"
	case compLZW:
		return "LZW"
	case compJPEG:
		return "JPEG"
	case compDeflate, compOldZip:
		return "Deflate"
	default:
		return "PackBits"
	}
}

// expansion returns how many bytes of samples one byte can stand for at the most, 0 where there is no useful bound.
func (c compression) expansion() int64 {
	switch c {
	case compNone:
		return 1
	case compLZW:
		// A code of 12 bits stands for one string of the table, which holds fewer than 4096 bytes.
		return 2731
	case compDeflate, compOldZip:
		// RFC 1951: 258 bytes for two bits.
		return 1032
	case compPackBits:
		return 64
	case compJPEG:
		// A block of 64 samples takes a bit at least; chroma may stand for four pixels.
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
