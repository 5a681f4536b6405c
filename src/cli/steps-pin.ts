import { shown } from '../core/text/wording.ts'
import type { PinnedStep } from '../modules/authoring/schema.ts'
import { CommandFailure, exitStatus, UsageFailure } from './failure.ts'
import { nextForDrafts } from './flows/records.ts'
import { counted, fieldLines, print } from './output.ts'
import { option, row } from './table.ts'

/** Why a step was not pinned. */
type PinHindrance = Exclude<PinnedStep['outcome'], 'pinned' | 'already pinned'>

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

/** The outcome for a step, and what was taken over of its element, whose words come from visitors' pages. */
function pinLines(pin: PinnedStep, isTrial: boolean): string[] {
  const { flow, step, outcome, selector, baselineAt, looks, fingerprint } = pin
  const name = `${flow}/${step}`
  if (isHindered(outcome)) return [`${name} ${hindrances[outcome]}`]
  const became = outcome === 'pinned' && isTrial ? 'would be pinned' : `is ${outcome}`
  const alike = `${looks.alike} of ${counted(looks.of, 'report')} in 24 hours alike`
  const facts = { selector, baseline: `${baselineAt}; ${alike}`, ...fingerprint }
  return [`${name} ${became}`, ...fieldLines(facts).map(line => `  ${shown(line, 400)}`)]
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
