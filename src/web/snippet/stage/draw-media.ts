import type { StepView } from '../parts.ts'
import { quietly } from '../safely.ts'
import { isSafeSource, safeHref } from './links.ts'
import { make } from './make.ts'

/** The address of an image or a video, if nothing is loaded unencrypted over a network; otherwise null. */
function mediaAddress(address: string | undefined, page: Window): string | null {
  const safe = address === undefined ? null : safeHref(address, page)
  return safe && isSafeSource(safe, page) ? safe : null
}

/**
 * The image or the video of a step; null where it has none that can be loaded. An image that turns out to be
 * none leaves its text, or nothing.
 */
export function mediaOf({ step, part }: StepView, page: Window): HTMLElement | null {
  const { media } = step
  const image = mediaAddress(media?.image, page)
  const video = mediaAddress(media?.video, page)
  if (!media || !(image ?? video)) return null
  const alt = media.alt ?? ''
  const frame = make(page, 'div', 'media', { part: 'media' })
  const { width, height } = media
  if (width && height) frame.style.aspectRatio = `${width} / ${height}`
  else if (video) frame.style.aspectRatio = '16 / 9'
  if (image) {
    const drawn = imageOf(image, alt, page)
    drawn.addEventListener('error', () => {
      frame.closest('.card')?.classList.remove('has-media')
      frame.replaceWith(...(alt ? [make(page, 'div', 'alt', {}, alt)] : []))
    })
    frame.append(drawn)
    return frame
  }
  const poster = mediaAddress(media.poster, page)
  if (poster) frame.append(imageOf(poster, '', page))
  const draw = async () => {
    const made = await part('video')
    const captions = mediaAddress(media.captions, page)
    const shown = { src: video as string, poster, captions, label: alt }
    if (made && frame.isConnected) frame.replaceChildren(made.makeVideo(shown, page))
  }
  quietly(draw)()
  return frame
}

const imageOf = (src: string, alt: string, page: Window): HTMLElement =>
  make(page, 'img', '', { src, alt, decoding: 'async' })
