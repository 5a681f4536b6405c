import { shown } from '../core/text/wording.ts'
import type { PinnedStep, RepairAnswer } from '../modules/authoring/schema.ts'
import type { Command } from './command.ts'
import { CommandFailure, exitStatus, UsageFailure } from './failure.ts'
import { nextForDrafts } from './flows/records.ts'
import { counted, fieldLines, print } from './output.ts'
import { checkRow } from './steps-check.ts'
import { addGroup, option, row } from './table.ts'

const pinRow = row<{ dryRun: boolean; steps: PinnedStep[] }>({
  name: 'pin',
  summary: 'save element snapshots in drafts, to find elements if selectors fail',
  about:
    'save the element snapshots of published steps as target.fingerprint in the drafts of their flows. If the selector finds nothing, pages then use the element that matches the snapshot with a score of at least .85',
  options: [
    option('--flow <key>', 'only this flow'),
    option('--step <key>', 'with --flow: only this step'),
    option('--dry-run', 'show the snapshots, and change nothing'),
  ],
  async run({ ask }, { flow, step, dryRun = false }) {
    if (step !== undefined && flow === undefined) {
      throw new UsageFailure('--step needs the flow of the step: set --flow')
    }
    const body = { flow, step, dryRun }
    const { steps } = await ask<{ steps: PinnedStep[] }>('POST /pin', { body })
    if (steps.length > 0) return { dryRun, steps }
    throw new CommandFailure('no published step with a target found: see "cairn steps check"')
  },
  check({ steps }) {
    if (!steps.some(isPinned)) process.exitCode = exitStatus.failure
  },
  show({ dryRun, steps }, { orgFlag }) {
    print(...steps.flatMap(pin => [...pinLines(pin, dryRun), '']))
    const pinned = steps.filter(({ outcome }) => outcome === 'pinned')
    const count = `${counted(pinned.length, 'step')} of ${steps.length}`
    if (dryRun) return print(`Would pin ${count}. Run it without --dry-run to save the drafts.`)
    print(`Pinned ${count}.`)
    const keys = new Set(pinned.map(({ flow }) => flow))
    if (keys.size > 0) print(...nextForDrafts([...keys].join(' '), orgFlag))
  },
  examples: [
    'cairn steps pin --dry-run',
    'cairn steps pin --flow welcome --step create',
    'cairn flows publish welcome',
  ],
  notes: `A snapshot is what a visitor's page first saw of the element. Review it before
you publish, because every visitor's page gets it. Its text is stored as a hash.`,
})

const isPinned = ({ outcome }: PinnedStep) => outcome === 'pinned' || outcome === 'already pinned'

const hindrances: Readonly<Record<string, string>> = {
  'no baseline': 'not pinned: no page has reported its element yet',
  'draft differs': 'not pinned: its draft points at another element than the published version',
  'says too little': 'not pinned: its snapshot is not specific enough to find the element',
}

/** The outcome for a step and the snapshot, whose texts come from visitors' pages. */
function pinLines(pin: PinnedStep, dryRun: boolean): string[] {
  const { flow, step, outcome, selector, baselineAt, looks, fingerprint } = pin
  const name = `${flow}/${step}`
  const hindrance = hindrances[outcome]
  if (hindrance) return [`${name}: ${hindrance}`]
  const alike = `${looks.alike} of ${counted(looks.of, 'report')} in 24 hours alike`
  const facts = { selector, baseline: `${baselineAt}; ${alike}`, ...fingerprint }
  const title = `${name}: ${outcome === 'pinned' && dryRun ? 'would be pinned' : outcome}`
  return [title, ...fieldLines(facts).map(line => `  ${shown(line, 400)}`)]
}

const repairRow = row<RepairAnswer>({
  name: 'repair',
  summary: "fix a step's selector in the flow's draft",
  about:
    "write a selector that finds a step's element into the flow's draft: the one of --selector, or the one that pages suggest; publishes nothing",
  args: { '<flow>': "the flow's key", '<step>': "the step's key" },
  options: [
    option('--selector <selector>', 'use this selector instead of the suggested one'),
    option('--note <text>', 'why, for the audit log'),
  ],
  route: 'POST /flows/:flow/steps/:step/repair',
  body: ({ selector, note }) => ({ selector, note }),
  headers: { 'if-match': '*' },
  show({ outcome, before, selector, flow, step }, { orgFlag }) {
    const name = `${flow.key}/${step}`
    const now = shown(selector, 1_000)
    if (outcome === 'unchanged') return print(`${name} already has the selector \`${now}\`.`)
    print(
      `Changed the selector of ${name} from \`${shown(before, 1_000)}\` to \`${now}\` in the draft.`,
      ...nextForDrafts(flow.key, orgFlag),
    )
  },
  examples: [
    'cairn steps repair welcome create',
    "cairn steps repair welcome create --selector '[data-test=new-project]'",
    'cairn flows publish welcome',
  ],
})

export function addSteps(cairn: Command): void {
  const steps = {
    name: 'steps',
    about: 'find and fix steps whose element is missing from the page',
    examples: [
      'cairn steps check',
      'cairn steps check --flow welcome --json',
      'cairn steps pin --flow welcome',
      'cairn steps repair welcome create',
    ],
  }
  addGroup(cairn, steps, [checkRow, pinRow, repairRow])
}
