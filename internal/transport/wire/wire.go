// Package wire encodes and decodes the contents of a connection: frames, the envelopes of messages,
// and the parts of large messages. It has no connections, goroutines or clocks of its own.
//
// A frame is a length and a body. The body of a frame with a message is an envelope; of a large
// message, it is a part of the envelope, which a [Reassembler] puts together. Each message may be
// compressed. The documentation of package transport has the formats.
package wire
