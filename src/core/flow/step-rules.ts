import { eventKinds } from '../event/event.ts'
import { isTelling } from '../step/comparison.ts'
import { fragileParts } from '../step/selector-fragility.ts'
import { readSelector } from '../step/selector-syntax.ts'
import { quoted } from '../text/wording.ts'
import type { StepDefinition, Target } from './flow.ts'
import { markdownProblems } from './markdown-rules.ts'
import { error, type FlowProblem, warning } from './problem.ts'
import type { Media } from './theme.ts'
import { urlMatches } from './url-rule.ts'

/** Problems of a step by itself. */
export function* stepProblems(step: StepDefinition): Iterable<FlowProblem> {
  if (step.target !== null) yield* targetProblems(step.target)
  else yield* withoutTarget(step)
  yield* textProblems(step)
  yield* lookProblems(step)
  yield* advanceProblems(step)
  yield* buttonProblems(step)
  yield* navigateProblems(step)
}

function* targetProblems(target: Target): Iterable<FlowProblem> {
  const { selector, alternates = [], text, fingerprint } = target
  yield* selectorProblems(selector, '/target/selector', text !== null)
  for (const [index, alternate] of alternates.entries()) {
    yield* selectorProblems(alternate, `/target/alternates/${index}`, text !== null)
  }
  if (fingerprint && !isTelling(fingerprint)) {
    const message =
      'This says too little to identify an element: add its text or name, role, id, testId or ancestors, or let "cairn steps pin" fill it in'
    yield error('weak_fingerprint', '/target/fingerprint', message)
  }
}

/** @param isNarrowed whether the step also identifies the element by its text */
function* selectorProblems(
  selector: string,
  place: string,
  isNarrowed: boolean,
): Iterable<FlowProblem> {
  const read = readSelector(selector)
  if ('problem' in read) {
    yield error('invalid_selector', place, read.problem)
    return
  }
  for (const weakness of fragileParts(read.tree, isNarrowed)) {
    yield warning('fragile_selector', place, weakness)
  }
}

function* withoutTarget({ kind, advance }: StepDefinition): Iterable<FlowProblem> {
  if (kind === 'tooltip' || kind === 'hotspot') {
    const message = `A ${kind} points at an element: add target with a selector, or make it a modal, banner or slideout`
    yield error('missing_target', '/target', message)
  } else if (advance.on === 'click') {
    const message =
      'The step continues on a click on its element, but has none: add target with a selector, or write "on: button"'
    yield error('missing_target', '/target', message)
  }
}

/** How much of a body people still read, in characters: about 150 words beside an element. */
const longBody = { tooltip: 1_000, hotspot: 1_000, banner: 1_000, slideout: 1_000, modal: 3_000 }

function* textProblems({ kind, title, body, media }: StepDefinition): Iterable<FlowProblem> {
  if (title.trim() === '' && body.trim() === '' && !media?.alt) {
    yield warning('no_text', '/title', 'The step has no text: add a title or a body')
  }
  const most = longBody[kind]
  if (body.length > most) {
    const message = `${body.length} characters are too long for a ${kind}: shorten the text to ${most}, or link to a page with the rest`
    yield warning('long_body', '/body', message)
  }
  yield* markdownProblems(body, '/body')
}

function* advanceProblems({ advance }: StepDefinition): Iterable<FlowProblem> {
  const place = '/advance/event'
  if (advance.on !== 'event') {
    if (advance.event === null) return
    const message = `The event has no effect with "on: ${advance.on}": write "on: event", or remove it`
    yield warning('unused_event', place, message)
  } else if (advance.event === null) {
    const message = 'The step continues on an event: add the name of the event that you send'
    yield error('missing_event', place, message)
  } else {
    const inVain = { code: 'never_sent', consequence: 'The step never continues' }
    yield* eventProblems(advance.event, place, inVain)
  }
}

/** Buttons that lead on from a step send its answer. */
const sendsAnswer = ({ action }: StepDefinition['buttons'][number]) =>
  action !== 'back' && action !== 'dismiss'

function* buttonProblems({ advance, buttons, question }: StepDefinition): Iterable<FlowProblem> {
  // If there are none, the snippet's own button leads on.
  const isDeadEnd = buttons.length > 0 && buttons.every(({ action }) => action === 'back')
  if (advance.on === 'button' && isDeadEnd) {
    const message =
      'The step only leads back: add a button with "action: next", or "complete" on the last step'
    yield warning('dead_end', '/buttons', message)
  }
  if (question && advance.on !== 'button') {
    const message = `Only a button sends the answer, and the step continues with "on: ${advance.on}": write "on: button"`
    yield error('unsent_answer', '/advance/on', message)
  } else if (question && buttons.length > 0 && !buttons.some(sendsAnswer)) {
    const message = 'No button sends the answer: add one with "action: next" or "complete"'
    yield error('unsent_answer', '/buttons', message)
  }
  for (const [index, { action, href }] of buttons.entries()) {
    const place = `/buttons/${index}/href`
    if (action === 'link' && href === null) {
      const message = 'A button with "action: link" needs an address: add href'
      yield error('missing_href', place, message)
    } else if (action !== 'link' && href !== null) {
      const message = `The link has no effect with "action: ${action}": write "action: link", or remove it`
      yield warning('unused_href', place, message)
    }
  }
}

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
      'The step waits for an event, but "block" lets visitors use only the element: write "spotlight: off" if they need more of the page'
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
    const message = 'The media has no file: add image or video with an address'
    yield error('missing_media', '/media', message)
  }
  if (video !== undefined && captions === undefined) {
    const message = 'The video has no captions for people who cannot hear it: add captions (WebVTT)'
    yield warning('missing_captions', '/media/video', message)
  }
  if (alt === undefined && (image ?? video) !== undefined) {
    const message =
      'People who cannot see the media need a text: add alt, or "" if it is only decorative'
    yield warning('missing_alt', image === undefined ? '/media/video' : '/media/image', message)
  }
}

/** Why no application sends a custom event with this name, as the end of a sentence, or null. */
function eventNameProblem(name: string): string | null {
  if (name.trim() === '')
    return 'the name of the event is blank; write the one that your application sends'
  if (!(eventKinds as readonly string[]).includes(name)) return null
  return `${quoted(name)} is a kind of Cairn's own events, and only custom ones count here; name one that your application sends`
}

/**
 * What is wrong with the name of an event that something waits for.
 *
 * @param inVain the problem if the event can never come: its code, and what then never happens
 */
export function* eventProblems(
  name: string,
  path: string,
  inVain: { code: string; consequence: string },
): Iterable<FlowProblem> {
  const problem = eventNameProblem(name)
  if (problem !== null) yield error(inVain.code, path, `${inVain.consequence}: ${problem}`)
}

/** Problems with where a step leads, compared with the page that it is for. */
function* navigateProblems({ page, navigate }: StepDefinition): Iterable<FlowProblem> {
  if (navigate === undefined || page === undefined) return
  const isPath = navigate.startsWith('/')
  // A path belongs to whatever site the page is on.
  const origin = /^[a-z]+:\/\/[^/?#*]+/i.exec(page.pattern)?.[0] ?? 'https://host.invalid'
  const url = isPath ? URL.parse(navigate, origin) : URL.parse(navigate)
  if (url === null || urlMatches(page, url) || /^[^/]*\*/.test(page.pattern)) return
  const message =
    'The address does not match "page", so the step is shown there only if the site redirects: change one of them'
  yield warning('navigates_elsewhere', '/navigate', message)
}
