package processing

// Spot is a piece of the mask that is corrected as a whole: an 8-connected component.
type Spot struct {
	// ID counts from 1 in reading order of the topmost, leftmost pixel.
	ID int
	// Method is used instead of Params.Method where it is not MethodAuto.
	Method Method
	// Runs are its pixels in reading order.
	Runs []Run
}

// Patch is the correction of one spot.
type Patch struct {
	// Spot is the ID of the spot.
	Spot int
	// Method is the method that was used, never MethodAuto.
	Method Method
	// Runs are the pixels that may differ from the source, in reading order: the spot, its halo, and the pixels from
	// which the veil of a large spot is subtracted. Patches of one mask never overlap: a halo pixel belongs to the
	// nearest spot, a pixel under several veils to the spot with the strongest.
	Runs []Run
	// Exactly one is set, as in Picture: the new samples of the pixels of Runs, in order, Channels each. Where nothing
	// had to change they are those of the source, bit for bit.
	U8  []uint8
	U16 []uint16
	F32 []float32
}

// Correction is the result of Correct.
type Correction struct {
	// Patches are in the order of the spots.
	Patches []Patch
	// Timings are the times of the stages.
	Timings []StageTime
	// Device is the name of the backend that ran it.
	Device string
}

// CorrectOptions are the options of Correct besides the parameters.
type CorrectOptions struct {
	// Spots limits the work to these pieces of the mask, each with its own method; nil is all of Spots(mask).
	Spots []Spot
	// Memory is the most memory to use, in bytes; 0 is no limit. A correction that would take more is refused at the
	// start.
	Memory int64
	// Progress may be nil.
	Progress Progress
}
