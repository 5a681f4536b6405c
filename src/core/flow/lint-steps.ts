import { isTelling } from '../step/comparison.ts'
import { fragileParts } from '../step/selector-fragility.ts'
import { readSelector } from '../step/selector-syntax.ts'
import { didYouMean, quoted } from '../text/wording.ts'
import { Button, FlowDefinition, StepDefinition, Target } from './flow.ts'
import { eventRule } from './lint-conditions.ts'
import { errorIf, type LintRules, onFields, onWhole, repeatedKeys, warnIf } from './lint-rule.ts'
import { markdownRules } from './markdown-rules.ts'
import { exitsOf, reachIn } from './paths.ts'
import type { Question } from './question.ts'

/** The rules about steps and the paths between them. */

/** The selectors of a target, as they are read. */
const selectorsOf = ({ selector, alternates = [] }: Target) =>
  [selector, ...alternates].map((text, at) => ({
    path: at === 0 ? '/selector' : `/alternates/${at - 1}`,
    ...readSelector(text),
  }))

const pointsAtElement = ({ kind }: StepDefinition) => kind === 'tooltip' || kind === 'hotspot'

const withoutEffect = (kind: string, other: string) =>
  `This has no effect on a ${kind}: write "kind: ${other}", or remove it`

/** Buttons that lead on from a step send its answer. */
const sendsAnswer = ({ action }: Button) => action !== 'back' && action !== 'dismiss'

type WithSteps = Pick<FlowDefinition, 'steps'>

/** All buttons that lead to a step of their own choice. */
const gotosIn = ({ steps }: WithSteps) =>
  steps.flatMap(({ buttons }, at) =>
    buttons.flatMap(({ goto }, index) =>
      goto === undefined ? [] : [{ named: goto, path: `/steps/${at}/buttons/${index}/goto` }],
    ),
  )

/** All conditions on the answer of another step. */
const answersIn = ({ steps }: WithSteps) =>
  steps.flatMap(({ when }, at) =>
    (when?.rules ?? []).flatMap(({ answer }, index) => {
      const questionAt = steps.findIndex(({ key }) => key === answer)
      const path = `/steps/${at}/when/rules/${index}/answer`
      return answer === undefined ? [] : [{ named: answer, at, questionAt, path }]
    }),
  )

function unknownSteps(flow: WithSteps) {
  const keys = flow.steps.map(({ key }) => key)
  return [...gotosIn(flow), ...answersIn(flow)]
    .filter(({ named }) => !keys.includes(named))
    .map(({ named, path }) => {
      const hint = didYouMean(named, keys) || ': write the key of a step of this flow'
      return { path, message: `Unknown step ${quoted(named)}${hint}` }
    })
}

/** The conditions on answers that cannot have been given before. */
function unanswered(flow: WithSteps) {
  const { steps } = flow
  const reach = reachIn(steps)
  return answersIn(flow).flatMap(({ named, at, questionAt, path }) => {
    if (questionAt < 0 || exitsOf(steps, questionAt).some(exit => reach(exit).has(at))) return []
    const message = `Step ${quoted(named)} does not come before this one, so there is no answer yet: move it up`
    return 'question' in steps[questionAt]! ? [{ path, message }] : []
  })
}

/** The fields that only one type of question may have. */
const fieldsOfType: Readonly<Record<Question['type'], readonly (keyof Question)[]>> = {
  rating: ['scale', 'min', 'max', 'low', 'high'],
  choice: ['choices', 'several'],
  text: ['placeholder', 'longest'],
}

const {
  advance: AdvanceField,
  media: MediaField,
  question: QuestionField,
} = StepDefinition.properties

export const stepRules: readonly LintRules[] = [
  onWhole(
    Target,
    errorIf('invalid_selector', target =>
      selectorsOf(target).flatMap(({ path, ...read }) =>
        'problem' in read ? [{ path, message: read.problem }] : [],
      ),
    ),
    warnIf('fragile_selector', target =>
      selectorsOf(target).flatMap(({ path, ...read }) => {
        const parts = 'problem' in read ? [] : fragileParts(read.tree, target.text !== null)
        return [...parts].map(message => ({ path, message }))
      }),
    ),
    errorIf(
      'weak_fingerprint /fingerprint',
      ({ fingerprint }) => fingerprint !== undefined && !isTelling(fingerprint),
      'This says too little to identify an element: add its text or name, role, id, testId or ancestors, or let "cairn steps pin" fill it in',
    ),
  ),
  onWhole(
    StepDefinition,
    errorIf(
      'missing_target /target',
      step => step.target === null && pointsAtElement(step),
      (_, { kind }) =>
        `A ${kind} points at an element: add target with a selector, or make it a modal, banner or slideout`,
    ),
    errorIf(
      'missing_target /target',
      step => step.target === null && !pointsAtElement(step) && step.advance.on === 'click',
      'The step continues on a click on its element, but has none: add target with a selector, or write "on: button"',
    ),
    warnIf(
      'no_text /title',
      ({ title, body, media }) => `${title}${body}`.trim() === '' && !media?.alt,
      'The step has no text: add a title or a body',
    ),
    ...markdownRules('/body', ({ body }: StepDefinition) => body),
    warnIf(
      'unused_banner /banner',
      ({ banner, kind }) => banner !== undefined && kind !== 'banner',
      (_, { kind }) => withoutEffect(kind, 'banner'),
    ),
    warnIf(
      'unused_opens /opens',
      ({ opens, kind }) => opens !== undefined && kind !== 'hotspot',
      (_, { kind }) => withoutEffect(kind, 'hotspot'),
    ),
    warnIf(
      'unused_spotlight /spotlight',
      step => (step.spotlight ?? 'off') !== 'off' && !pointsAtElement(step),
      (_, { kind }) => withoutEffect(kind, 'tooltip'),
    ),
    warnIf(
      'dead_end /buttons',
      ({ advance: { on }, buttons }) =>
        // If there are none, the snippet's own button leads on.
        on === 'button' && buttons.length > 0 && buttons.every(({ action }) => action === 'back'),
      'The step only leads back: add a button with "action: next", or "complete" on the last step',
    ),
    errorIf(
      'unsent_answer /advance/on',
      ({ advance, question }) => question !== undefined && advance.on !== 'button',
      (_, { advance }) =>
        `Only a button sends the answer, and the step continues with "on: ${advance.on}": write "on: button"`,
    ),
    errorIf(
      'unsent_answer /buttons',
      ({ advance: { on }, buttons, question }) =>
        question !== undefined &&
        on === 'button' &&
        buttons.length > 0 &&
        !buttons.some(sendsAnswer),
      'No button sends the answer: add one with "action: next" or "complete"',
    ),
  ),
  onWhole(
    MediaField,
    errorIf(
      'image_and_video /image',
      ({ image, video }) => image !== undefined && video !== undefined,
      'A step can show only one of the two: keep one',
    ),
    errorIf(
      'missing_media',
      ({ image, video }) => image === undefined && video === undefined,
      'The media has no file: add image or video with an address',
    ),
    warnIf(
      'missing_captions /video',
      ({ video, captions }) => video !== undefined && captions === undefined,
      'The video has no captions for people who cannot hear it: add captions (WebVTT)',
    ),
    warnIf(
      'missing_alt',
      ({ image, video, alt }) =>
        alt === undefined &&
        (image ?? video) !== undefined && { path: image === undefined ? '/video' : '/image' },
      'People who cannot see the media need a text: add alt, or "" if it is only decorative',
    ),
  ),
  onWhole(
    AdvanceField,
    warnIf(
      'unused_event /event',
      ({ on, event }) => on !== 'event' && event !== null,
      (_, { on }) => `The event has no effect with "on: ${on}": write "on: event", or remove it`,
    ),
    errorIf(
      'missing_event /event',
      ({ on, event }) => on === 'event' && event === null,
      'The step continues on an event: add the name of the event that you send',
    ),
    eventRule(
      'never_sent /event',
      ({ on, event }) => (on === 'event' ? event : null),
      'The step never continues',
    ),
  ),
  onWhole(
    Button,
    errorIf(
      'missing_href /href',
      ({ action, href }) => action === 'link' && href === null,
      'A button with "action: link" needs an address: add href',
    ),
    warnIf(
      'unused_href /href',
      ({ action, href }) => action !== 'link' && href !== null,
      (_, { action }) =>
        `The link has no effect with "action: ${action}": write "action: link", or remove it`,
    ),
    warnIf(
      'unused_goto /goto',
      ({ action, goto }) => action !== 'next' && goto !== undefined,
      (_, { action }) =>
        `The step has no effect with "action: ${action}": write "action: next", or remove goto`,
    ),
    errorIf(
      'missing_flow /flow',
      ({ action, flow }) => action === 'start' && flow === undefined,
      'A button with "action: start" needs the key of a flow: add flow',
    ),
    warnIf(
      'unused_flow /flow',
      ({ action, flow }) => action !== 'start' && flow !== undefined,
      (_, { action }) =>
        `The flow has no effect with "action: ${action}": write "action: start", or remove flow`,
    ),
  ),
  onWhole(
    QuestionField,
    warnIf('unused_field', question =>
      (['rating', 'choice', 'text'] as const).flatMap(type => {
        const names = type === question.type ? [] : fieldsOfType[type]
        const message = `This has no effect with "type: ${question.type}": remove it, or write "type: ${type}"`
        return names
          .filter(name => question[name] !== undefined)
          .map(name => ({ path: `/${name}`, message }))
      }),
    ),
    warnIf(
      'unused_field',
      ({ type, scale, ...bounds }) =>
        (['min', 'max'] as const)
          .filter(name => type === 'rating' && scale !== 'numbers' && bounds[name] !== undefined)
          .map(name => ({ path: `/${name}` })),
      'This only has an effect with "scale: numbers": write that, or remove it',
    ),
    errorIf(
      'few_choices /choices',
      ({ type, choices = [] }) => type === 'choice' && choices.length < 2,
      'Add choices to choose from: at least two',
    ),
    repeatedKeys('/choices', ({ choices = [] }: Question) => choices),
  ),
  onFields(
    FlowDefinition,
    ['steps'],
    errorIf('unknown_step', unknownSteps),
    warnIf('never_answered', flow =>
      answersIn(flow)
        .filter(({ questionAt }) => questionAt >= 0 && !('question' in flow.steps[questionAt]!))
        .map(({ named, path }) => {
          const why = `Step ${quoted(named)} has no question, so it has no answer`
          return { path, message: `${why}: add a question to it` }
        }),
    ),
    warnIf('never_answered', unanswered),
    warnIf('unreachable_step', ({ steps }) => {
      const reached = reachIn(steps)(0)
      return steps.flatMap(({ key }, at) => {
        const message = `No path leads to step ${quoted(key)}: add a button with "goto: ${key}", or remove the step`
        return at === 0 || reached.has(at) ? [] : [{ path: `/steps/${at}`, message }]
      })
    }),
  ),
]
