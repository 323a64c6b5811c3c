//go:build !nolab

package main

import lab "blik/lab/cli"

func init() { extensions = lab.Commands() }
