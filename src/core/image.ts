/** The formats of images that pages show, with the ending of their files. */
export const imageTypes = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
} as const

export type ImageType = keyof typeof imageTypes

export interface ImageFormat {
  type: ImageType
  /** In pixels. */
  width: number
  height: number
}

/**
 * What image a file is, by its content alone: whoever sends it says what they like about its type. Null for
 * anything else, such as SVG, which may contain scripts.
 */
export function imageFormatOf(bytes: Uint8Array): ImageFormat | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    return pngOf(view) ?? gifOf(view) ?? webpOf(view) ?? jpegOf(view)
  } catch (error) {
    // The file ends within its header.
    if (error instanceof RangeError) return null
    throw error
  }
}

const hasText = (view: DataView, at: number, text: string) =>
  view.byteLength >= at + text.length &&
  [...text].every((character, i) => view.getUint8(at + i) === character.charCodeAt(0))

function pngOf(view: DataView): ImageFormat | null {
  if (!hasText(view, 0, '\x89PNG\r\n\x1a\n') || !hasText(view, 12, 'IHDR')) return null
  return { type: 'image/png', width: view.getUint32(16), height: view.getUint32(20) }
}

function gifOf(view: DataView): ImageFormat | null {
  if (!hasText(view, 0, 'GIF87a') && !hasText(view, 0, 'GIF89a')) return null
  return { type: 'image/gif', width: view.getUint16(6, true), height: view.getUint16(8, true) }
}

function webpOf(view: DataView): ImageFormat | null {
  if (!hasText(view, 0, 'RIFF') || !hasText(view, 8, 'WEBP')) return null
  const size = webpSizeOf(view)
  return size && { type: 'image/webp', ...size }
}

/** By the first chunk: lossy, lossless, or with further features. */
function webpSizeOf(view: DataView) {
  if (hasText(view, 12, 'VP8 ')) {
    return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
  }
  if (hasText(view, 12, 'VP8L')) {
    const bits = view.getUint32(21, true)
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
  }
  if (!hasText(view, 12, 'VP8X')) return null
  const sideAt = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16) + 1
  return { width: sideAt(24), height: sideAt(27) }
}

/** The marker of a frame's start, which has the size; these three of its range mean something else. */
const isFrameStart = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

function jpegOf(view: DataView): ImageFormat | null {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return null
  for (let at = 2; view.getUint8(at) === 0xff; ) {
    const marker = view.getUint8(at + 1)
    if (isFrameStart(marker)) {
      return { type: 'image/jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    }
    // Markers may be preceded by further 0xff.
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2)
  }
  return null
}
