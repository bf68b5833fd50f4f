package kafkaio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// maxDecompressed bounds what one batch may unpack to. Brokers refuse batches
// over 1 MiB unless told otherwise; a bomb of some kilobytes must not take the
// process' memory.
const maxDecompressed = 256 << 20

var compressionNames = [...]string{"none", "gzip", "snappy", "lz4", "zstd"}

// String is the codec's name in Kafka's configuration.
func (c Compression) String() string {
	if c < 0 || int(c) >= len(compressionNames) {
		return fmt.Sprintf("codec %d", int8(c))
	}
	return compressionNames[c]
}

// ParseCompression gives the codec of a name in Kafka's configuration; ok is
// false for a name that it does not have.
func ParseCompression(name string) (c Compression, ok bool) {
	i := slices.Index(compressionNames[:], name)
	return Compression(max(i, 0)), i >= 0
}

var (
	gzipWriters = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
	gzipReaders = sync.Pool{New: func() any { return new(gzip.Reader) }}
	lz4Writers  = sync.Pool{New: func() any { return lz4.NewWriter(nil) }}
	lz4Readers  = sync.Pool{New: func() any { return lz4.NewReader(nil) }}
	zstdEncoder = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	})
	zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxDecompressed))
	})
)

// usualRatio is the room made for the original of a codec that does not tell its
// size, as a multiple of what is compressed.
const usualRatio = 4

// appendWriter collects what is written, up to a limit of added bytes.
type appendWriter struct {
	buf   []byte
	limit int // length that buf must not pass
}

func (w *appendWriter) Write(data []byte) (int, error) {
	if len(data) > w.limit-len(w.buf) {
		return 0, errTooLong
	}
	w.buf = append(w.buf, data...)
	return len(data), nil
}

var errTooLong = errors.New("more bytes than a batch may hold")

// Compress appends the compressed form of src to dst.
func (c Compression) Compress(dst, src []byte) ([]byte, error) {
	switch c {
	case NoCompression:
		return append(dst, src...), nil
	case Gzip:
		out := &appendWriter{dst, len(dst) + 2*len(src) + 1024}
		writer := gzipWriters.Get().(*gzip.Writer)
		defer gzipWriters.Put(writer)
		writer.Reset(out)
		return writeAll(writer, out, src)
	case Snappy: // one block without a frame, which readers of Kafka's clients take too
		start := len(dst)
		dst = slices.Grow(dst, s2.MaxEncodedLen(len(src)))
		block := s2.EncodeSnappy(dst[start:cap(dst)], src)
		return dst[:start+len(block)], nil
	case LZ4:
		out := &appendWriter{dst, len(dst) + 2*len(src) + 1024}
		writer := lz4Writers.Get().(*lz4.Writer)
		defer lz4Writers.Put(writer)
		writer.Reset(out)
		return writeAll(writer, out, src)
	case Zstd:
		encoder, err := zstdEncoder()
		if err != nil {
			return dst, err
		}
		return encoder.EncodeAll(src, dst), nil
	}
	return dst, fmt.Errorf("unknown compression: %v", c)
}

func writeAll(writer io.WriteCloser, out *appendWriter, src []byte) ([]byte, error) {
	if _, err := writer.Write(src); err != nil {
		return out.buf, err
	}
	err := writer.Close()
	return out.buf, err
}

// Decompress appends the original of src to dst. Bytes that the codec did not
// write, and originals of more than 256 MiB, give ErrCorrupt.
func (c Compression) Decompress(dst, src []byte) ([]byte, error) {
	return c.decompressWithin(maxDecompressed, dst, src)
}

func (c Compression) decompressWithin(limit int, dst, src []byte) ([]byte, error) {
	out, err := c.decompress(limit, dst, src)
	if err != nil {
		return dst, fmt.Errorf("%w: %v: %w", ErrCorrupt, c, err)
	}
	return out, nil
}

func (c Compression) decompress(limit int, dst, src []byte) ([]byte, error) {
	switch c {
	case NoCompression:
		return append(dst, src...), nil
	case Gzip:
		reader := gzipReaders.Get().(*gzip.Reader)
		defer gzipReaders.Put(reader)
		if err := reader.Reset(bytes.NewReader(src)); err != nil {
			return dst, err
		}
		return readAll(reader, slices.Grow(dst, usualRatio*len(src)), len(dst)+limit)
	case Snappy:
		return decompressSnappy(dst, src, len(dst)+limit)
	case LZ4:
		reader := lz4Readers.Get().(*lz4.Reader)
		defer lz4Readers.Put(reader)
		reader.Reset(bytes.NewReader(src))
		return readAll(reader, slices.Grow(dst, usualRatio*len(src)), len(dst)+limit)
	case Zstd:
		decoder, err := zstdDecoder()
		if err != nil {
			return dst, err
		}
		return decodeZstd(decoder, limit, dst, src)
	}
	return dst, errors.New("unknown compression")
}

// decodeZstd takes frames that state their size, as DecodeAll's limit is the
// decoder's, by that size, and others through DecodeAll's own limit.
func decodeZstd(decoder *zstd.Decoder, limit int, dst, src []byte) ([]byte, error) {
	var header zstd.Header
	if err := header.Decode(src); err == nil && header.HasFCS && header.FrameContentSize > uint64(limit) {
		return dst, errTooLong
	}
	out, err := decoder.DecodeAll(src, dst)
	if err == nil && len(out)-len(dst) > limit {
		return dst, errTooLong
	}
	return out, err
}

func readAll(reader io.Reader, dst []byte, limit int) ([]byte, error) {
	out := &appendWriter{dst, limit}
	_, err := io.Copy(out, reader)
	return out.buf, err
}

// xerialMagic begins the framed form that Java's clients write: 16 bytes of
// header, then blocks with their length before them.
var xerialMagic = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

const xerialHeader = 16

func decompressSnappy(dst, src []byte, limit int) ([]byte, error) {
	if !bytes.HasPrefix(src, xerialMagic) || len(src) < xerialHeader {
		return decompressBlock(dst, src, limit)
	}
	for src = src[xerialHeader:]; len(src) > 0; {
		if len(src) < 4 {
			return dst, io.ErrUnexpectedEOF
		}
		length := int64(binary.BigEndian.Uint32(src))
		src = src[4:]
		if length > int64(len(src)) {
			return dst, io.ErrUnexpectedEOF
		}
		var err error
		if dst, err = decompressBlock(dst, src[:length], limit); err != nil {
			return dst, err
		}
		src = src[length:]
	}
	return dst, nil
}

func decompressBlock(dst, src []byte, limit int) ([]byte, error) {
	length, err := s2.DecodedLen(src)
	if err != nil {
		return dst, err
	}
	// A block's copies reach 64 bytes for 3 of input at most: a greater promise
	// is a lie, found before memory is taken for it.
	if length > limit-len(dst) || length > 64+len(src)*64 {
		return dst, errTooLong
	}
	start := len(dst)
	dst = slices.Grow(dst, length)[:start+length]
	_, err = s2.Decode(dst[start:], src)
	return dst, err
}
