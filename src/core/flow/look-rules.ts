import type { StepDefinition } from './flow.ts'
import type { Media } from './look-fields.ts'
import { error, type FlowProblem, warning } from './problem.ts'

/** Problems with how a step is drawn. */
export function* lookProblems(step: StepDefinition): Iterable<FlowProblem> {
  const { kind, media, spotlight, banner, opens } = step
  if (media) yield* mediaProblems(media)
  if (banner && kind !== 'banner') yield unused('banner', kind, 'banner')
  if (opens && kind !== 'hotspot') yield unused('opens', kind, 'hotspot')
  if (!spotlight || spotlight === 'off') return
  if (kind !== 'tooltip' && kind !== 'hotspot') yield unused('spotlight', kind, 'tooltip')
  else if (spotlight === 'block' && step.advance.on === 'event') {
    const message =
      'The step waits for what the visitor does on the page, of which "block" leaves them the element alone: write "spotlight: off" where they need more of it'
    yield warning('blocked_page', '/spotlight', message)
  }
}

const unused = (field: string, kind: string, other: string): FlowProblem =>
  warning(
    `unused_${field}`,
    `/${field}`,
    `This has no effect on a ${kind}: write "kind: ${other}", or remove it`,
  )

function* mediaProblems(media: Media): Iterable<FlowProblem> {
  const { image, video, alt, captions } = media
  if (image !== undefined && video !== undefined) {
    yield error('image_and_video', '/media/image', 'A step can show only one of the two: keep one')
  } else if (image === undefined && video === undefined) {
    const message = 'There is nothing to show: add image or video with an address'
    yield error('missing_media', '/media', message)
  }
  if (video !== undefined && captions === undefined) {
    const message =
      'People who cannot hear it, or have the sound off, miss what is said: add captions (WebVTT)'
    yield warning('missing_captions', '/media/video', message)
  }
  if (alt === undefined && (image ?? video) !== undefined) {
    const message = 'People who cannot see it need a text: add alt, or "" if it is only decorative'
    yield warning('missing_alt', image === undefined ? '/media/video' : '/media/image', message)
  }
}
