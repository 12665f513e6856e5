// Package codec encodes the payloads of a journal on their way in and decodes them on their way
// out, for example to encrypt what is stored:
//
//	encryption, err := codec.NewEncryption(key)
//	...
//	journal := codec.Wrap(store, encryption)
//
// This package is experimental: a minor release may change it.
//
// [Wrap] works with any journal and any [Codec]. [NewEncryption] returns a codec that encrypts
// with AES-256 and HMAC-SHA256. The name of the codec is stored with each payload. Reading a
// payload whose codec or key the journal does not have fails with [journal.ErrCodec], which names
// it.
package codec
