package directory

import "strings"

// An advertisement is what a node tells the others of a manager: the name of the singleton, and in
// its signature the settings that must be the same on all nodes for there to be one instance:
//
//	jobs#message=app.job#role=worker#anchor=oldest
//
// A signature leaves out settings that have their default, because every node passes on the
// advertisements of all. A name cannot contain "#". An advertisement without a signature says
// nothing about settings, and matches all.

// Separator is before each part of a signature.
const Separator = "#"

// Advertise returns the advertisement of a singleton.
func Advertise(name, signature string) string {
	if signature == "" {
		return name
	}
	return name + Separator + signature
}

// AdvertisedName returns the name of the singleton in an advertisement.
func AdvertisedName(advertisement string) string {
	name, _, _ := strings.Cut(advertisement, Separator)
	return name
}
