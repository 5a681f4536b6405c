import { make } from './make.ts'

/** A video with the browser's own controls. */
export interface Video {
  src: string
  /** Shown until it is played. */
  poster: string | null
  /** Address of its captions (WebVTT). */
  captions: string | null
  /** What it shows, for those who do not see it. */
  label: string
}

/** Nothing of the video is loaded until it is visible, and it never plays by itself. */
export function makeVideo({ src, poster, captions, label }: Video, page: Window): HTMLVideoElement {
  const video = make(page, 'video', 'video', { preload: 'none' })
  if (label) video.setAttribute('aria-label', label)
  video.controls = true
  video.playsInline = true
  if (poster) video.poster = poster
  if (captions) {
    const { lang } = page.document.documentElement
    const track = make(page, 'track', '', { kind: 'captions', label: lang || 'CC' })
    if (lang) track.srclang = lang
    track.default = true
    // The browser reads captions from another origin only with this, set before it reads anything.
    if (new URL(captions).origin !== page.location.origin) video.crossOrigin = 'anonymous'
    track.src = captions
    video.append(track)
  }
  video.src = src
  const observer = new IntersectionObserver(entries => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return
    observer.disconnect()
    video.preload = 'metadata'
  })
  observer.observe(video)
  return video
}
