import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { imageFormatOf } from '../../src/core/image.ts'

/** Images are recognised by their bytes. */

const text = (characters: string) => [...characters].map(each => each.charCodeAt(0))
const png = [...text('\x89PNG\r\n\x1a\n'), 0, 0, 0, 13, ...text('IHDR'), 0, 0, 2, 128, 0, 0, 1, 104]
const riff = (chunk: string, ...bytes: number[]) => [
  ...[...text('RIFF'), 0, 0, 0, 0, ...text('WEBP'), ...text(chunk), 0, 0, 0, 0],
  ...bytes,
]
/** With a segment before the frame, and a frame that is progressive. */
const jpeg = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xff, 0xc2, 0, 17, 8, 1, 104, 2, 128, 3]

const images = {
  'image/png': [png],
  'image/gif': [
    [...text('GIF89a'), 128, 2, 104, 1],
    [...text('GIF87a'), 128, 2, 104, 1],
  ],
  'image/jpeg': [jpeg],
  'image/webp': [
    riff('VP8 ', 0, 0, 0, 0x9d, 1, 0x2a, 128, 2, 104, 1),
    riff('VP8L', 0x2f, 0x7f, 0xc2, 0x59, 0),
    riff('VP8X', 0, 0, 0, 0, 127, 2, 0, 103, 1, 0),
  ],
}

for (const [type, files] of Object.entries(images)) {
  test.each(files.map(file => [file]))(`${type} has its type and size`, file => {
    const bytes = new Uint8Array(file)
    expect(imageFormatOf(bytes)).toEqual({ type, width: 640, height: 360 } as never)
    // As a part of a larger buffer, as requests are read.
    const within = new Uint8Array([1, 2, 3, ...file, 4]).subarray(3, 3 + file.length)
    expect(imageFormatOf(within)).toEqual({ type, width: 640, height: 360 } as never)
  })
}

test('what ends before its size is no image', () => {
  for (const file of Object.values(images).flat()) {
    for (let end = 0; end < Math.min(file.length, 10); end++) {
      expect(imageFormatOf(new Uint8Array(file.slice(0, end)))).toBeNull()
    }
  }
})

test('nothing else is an image, and no bytes fail', () => {
  for (const other of ['<svg xmlns="http://www.w3.org/2000/svg"/>', '<!doctype html>', '%PDF-1.7'])
    expect(imageFormatOf(new TextEncoder().encode(other))).toBeNull()
  const begins = fc.constantFrom([], ...Object.values(images).flat())
  const law = fc.property(begins, fc.nat(30), fc.uint8Array(), (begin, kept, rest) => {
    const found = imageFormatOf(new Uint8Array([...begin.slice(0, kept), ...rest]))
    if (found) expect(Object.keys(images)).toContain(found.type)
  })
  fc.assert(law)
})
