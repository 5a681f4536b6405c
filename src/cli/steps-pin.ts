import type { FlowFingerprint } from '../core/flow/fingerprint.ts'
import { shown } from '../core/text/wording.ts'
import type { PinnedStep } from '../modules/authoring/model.ts'
import type { PinHindrance } from '../modules/authoring/pins.ts'
import { CommandFailure, exitStatus, UsageFailure } from './failure.ts'
import { nextForDrafts } from './flows/records.ts'
import { columns, counted, print } from './output.ts'
import { option, row } from './table.ts'

export const pinRow = row<{ dryRun: boolean; steps: PinnedStep[] }>({
  name: 'pin',
  summary: 'let pages find elements by their baseline where the selector fails',
  about:
    "take the baselines of published steps over as their target.fingerprint, in their flows' drafts: where no selector finds the element, pages then take the one that is as good, if it scores .85 or more",
  options: [
    option('--flow <key>', 'only this flow'),
    option('--step <key>', 'with --flow: only this step'),
    option('--dry-run', 'show what would be taken over, and change nothing'),
  ],
  async run({ ask }, { flow, step, dryRun = false }) {
    if (step !== undefined && flow === undefined) {
      throw new UsageFailure('--step needs the flow of the step: set --flow')
    }
    const body = { flow, step, dryRun }
    const { steps } = await ask<{ steps: PinnedStep[] }>('POST /pin', { body })
    if (steps.length === 0) {
      throw new CommandFailure(
        'no published step of that name points at an element: see "cairn steps check"',
      )
    }
    return { dryRun, steps }
  },
  check({ steps }) {
    if (steps.every(({ outcome }) => isHindered(outcome))) process.exitCode = exitStatus.failure
  },
  show: ({ dryRun, steps }, { orgFlag }) =>
    print(...steps.flatMap(pin => [...pinLines(pin, dryRun), '']), ...next(steps, dryRun, orgFlag)),
  examples: [
    'cairn steps pin --dry-run',
    'cairn steps pin --flow welcome --step create',
    'cairn flows publish welcome',
  ],
  notes: `A baseline is what a visitor's page first saw of the element. Read it before you
publish it: every visitor's page gets it. Of a text it holds only the hash.`,
})

const hindrances: Readonly<Record<PinHindrance, string>> = {
  'no baseline':
    'is not pinned: no page has told yet what its element, as it is described now, looks like',
  'draft differs': 'is not pinned: its draft points at another element than the one pages have',
  'says too little': 'is not pinned: its baseline says too little to identify the element',
}

const isHindered = (outcome: PinnedStep['outcome']): outcome is PinHindrance =>
  Object.hasOwn(hindrances, outcome)

/** The outcome for a step, and what was taken over of its element. */
function pinLines(pin: PinnedStep, isTrial: boolean): string[] {
  const { flow, step, outcome, selector, baselineAt, looks, fingerprint } = pin
  const name = `${flow}/${step}`
  if (isHindered(outcome)) return [`${name} ${hindrances[outcome]}`]
  const became = outcome === 'pinned' && isTrial ? 'would be pinned' : `is ${outcome}`
  const alike =
    looks.of === 0
      ? 'no further reports in 24 hours'
      : `${looks.alike} of ${counted(looks.of, 'look')} in 24 hours ${looks.alike === 1 ? 'is' : 'are'} alike`
  const rows = [
    ['selector', shown(selector, 1_000)],
    ...(baselineAt ? [['baseline', `${baselineAt}; ${alike}`]] : []),
    ...(fingerprint ? partRows(fingerprint as FlowFingerprint) : []),
  ]
  return [`${name} ${became}`, ...columns(rows.map(([label, value]) => [`  ${label}`, value!]))]
}

/** A fingerprint, shown to the person who answers for it. Its words come from visitors' pages. */
function partRows({ ancestors = [], testId, attributes, classes, ...words }: FlowFingerprint) {
  const { textHash, ...plain } = words
  const around = ancestors.map(
    ({ tag = '*', id, role, testId }) =>
      `${tag}${id ? `#${id}` : ''}${role ? `[role=${role}]` : ''}${testId ? `[${testId}]` : ''}`,
  )
  const rows: [string, string | undefined][] = [
    ...Object.entries(plain),
    ['text', textHash && `as a hash only, ${textHash.slice(0, 12)}…`],
    ['test id', testId && `${testId.attr}=${testId.value}`],
    ['classes', classes?.join(' ')],
    ...Object.entries(attributes ?? {}),
    ['inside', around.length > 0 ? around.join(' < ') : undefined],
  ]
  return rows.flatMap(([label, value]) => (value ? [[label, shown(value, 400)]] : []))
}

function next(pins: readonly PinnedStep[], isTrial: boolean, org: string): string[] {
  const pinned = pins.filter(({ outcome }) => outcome === 'pinned')
  const summary = `${counted(pinned.length, 'step')} of ${pins.length} ${isTrial ? 'would be pinned' : 'pinned'}`
  if (pinned.length === 0) return [summary]
  if (isTrial) return [`${summary}: run it without --dry-run to write it to the drafts`]
  const keys = new Set(pinned.map(({ flow }) => flow))
  const next = nextForDrafts([...keys].join(' '), org)
  return [`${summary}, in drafts, which pages do not show yet`, ...next]
}
