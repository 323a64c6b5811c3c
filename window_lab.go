//go:build !nolab && !headless

package main

import lab "blik/lab/timing"

func init() { timing = lab.Open }
