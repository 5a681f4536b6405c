import { isBadState } from '../core/step/health.ts'
import type { CheckedStep as CheckedStepAnswer, StepCheck } from '../modules/steps/model.ts'
import type { Command, Flags } from './command.ts'
import { CommandFailure, exitStatus } from './failure.ts'
import { addTarget, type Manager, managedEach } from './manage.ts'
import { print, printJson } from './output.ts'
import { pinRow } from './steps-pin.ts'
import { repairRow } from './steps-repair.ts'
import { stepReport } from './steps-report.ts'
import { addGroup, addRow } from './table.ts'

/** A published step that points at an element, and the state of that element. */
export type CheckedStep = CheckedStepAnswer & { organisation: string }

export function addSteps(cairn: Command): void {
  const steps = addGroup(cairn, {
    name: 'steps',
    about: 'check that pages still have the elements that steps point at',
    examples: [
      'cairn steps check',
      'cairn steps check --flow welcome --json',
      'cairn steps pin --flow welcome',
      'cairn steps repair welcome create',
    ],
  })
  addCheck(steps)
  addRow(steps, pinRow)
  addRow(steps, repairRow)
}

/** Asks every organisation unless one is named, so it is no row of a table. */
function addCheck(steps: Command): void {
  addTarget(
    steps
      .command('check')
      .description(
        'say which published steps have lost their element, why, and what to do; exit status 1 if any is drifting, flaky or broken',
      )
      .option('--flow <key>', 'only this flow')
      .option('--json', 'print {ok, steps: [{flow, step, state, people, pages, suggestion, …}]}'),
  )
    .examples(
      'cairn steps check',
      'cairn steps check --org harbor --flow welcome',
      'cairn steps check --json | jq -r \'.steps[] | select(.state == "broken") | .step\'',
    )
    .notes(`Without --org, the steps of all organisations are checked. States come from the
reports of pages in the last 24 hours; each person counts once, by the latest
report. With under 5 people a step is unknown, which is not a failure. "Since"
looks back 7 days.`)
    .action(async ({ flow, json }: Flags<'flow', 'json'>, command: Command) => {
      const { checked, organisations, isAmong } = await managedEach(command, async managers => ({
        checked: await checkedSteps(managers, flow),
        organisations: managers.map(({ organisation }) => organisation),
        isAmong: managers.some(({ isOnlyOne }) => !isOnlyOne),
      }))
      const ok = !checked.some(({ state }) => isBadState(state))
      if (!ok) process.exitCode = exitStatus.failure
      if (json) {
        const steps = checked.map(({ canBePinned, ...step }) => withoutPrints(step))
        return printJson({ ok, steps })
      }
      print(...stepReport(checked, { organisations, isAmong }))
    })
}

/** Leaves fingerprints out, because they are for people who look at them and not for the logs of a release. */
function withoutPrints<Step extends Pick<CheckedStep, 'fingerprints'>>(step: Step) {
  const { baseline, latest, ...counts } = step.fingerprints
  if (latest === null) return { ...step, fingerprints: { ...counts, latest } }
  const { fingerprint, ...verdict } = latest
  return { ...step, fingerprints: { ...counts, latest: verdict } }
}

/** The steps of all managers that are asked; a flow has to be published in one of them. */
async function checkedSteps(
  managers: readonly Manager[],
  flow: string | undefined,
): Promise<CheckedStep[]> {
  const path = flow === undefined ? '/health' : `/health?${new URLSearchParams({ flow })}`
  const checked: CheckedStep[] = []
  let isKnown = false
  for (const { ask, organisation } of managers) {
    try {
      const { steps } = await ask<StepCheck>(`GET ${path}`)
      checked.push(...steps.map(step => ({ organisation, ...step })))
      isKnown = true
    } catch (error) {
      if ((error as Partial<CommandFailure>).code !== 'flow_not_found') throw error
    }
  }
  if (isKnown) return checked
  throw new CommandFailure(
    `no published flow has the key "${flow?.slice(0, 64)}": see "cairn flows list"`,
  )
}
