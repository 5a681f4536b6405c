import type { StepView } from '../parts.ts'
import { quietly } from '../safely.ts'
import { make } from './make.ts'
import { isElsewhere, safeHref } from './markdown.ts'

/** The address of an image or a video, if it is https or of the page's own origin; otherwise null. */
function mediaAddress(address: string | undefined, page: Window): string | null {
  const safe = address === undefined ? null : safeHref(address, page)
  if (!safe?.startsWith('http')) return null
  return safe.startsWith('https:') || !isElsewhere(safe, page) ? safe : null
}

/** The image or the video of a step; null where it has none that can be loaded. */
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
    frame.append(imageOf(image, alt, page))
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

/** An image that cannot be loaded leaves no hole: its text stands there. */
const imageOf = (src: string, alt: string, page: Window): HTMLElement => {
  const image = make(page, 'img', '', { src, alt, decoding: 'async' })
  image.addEventListener('error', () => image.parentElement?.classList.add('failed'))
  return image
}
