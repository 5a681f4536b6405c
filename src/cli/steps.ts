import type { Database } from 'bun:sqlite'
import type { Command } from 'commander'
import { isoTimeOrNull } from '../core/clock.ts'
import type { Flow, Step } from '../core/flow.ts'
import { isBadState, type StepHealth, stepState } from '../core/step-health.ts'
import { StoredCatalogue } from '../storage/catalogue.ts'
import { listOrganisations } from '../storage/organisations.ts'
import { takenOver } from '../storage/pin.ts'
import { type StepEvidence, StepReader } from '../storage/step-reader.ts'
import { organisationNamed, withData } from './data.ts'
import { examples } from './examples.ts'
import { CommandFailure, exitStatus } from './failure.ts'
import { print, printJson } from './output.ts'
import { addSettings, settingsOf } from './settings.ts'
import { addPin } from './steps-pin.ts'
import { stepReport } from './steps-report.ts'

/** A published step that points at an element, and how that fares. */
export interface CheckedStep {
  organisation: string
  flow: Flow
  step: Step & { target: NonNullable<Step['target']> }
  health: StepHealth
  evidence: StepEvidence
  /** Whether its flow could take over what its element was like, and has not. */
  canBePinned: boolean
}

interface Options {
  org?: string
  flow?: string
  json?: boolean
}

export function addSteps(cairn: Command): void {
  const steps = cairn
    .command('steps')
    .description('whether pages still have the elements that steps point at')
    .addHelpText(
      'after',
      examples(
        'cairn steps check',
        'cairn steps check --flow welcome --json',
        'cairn steps pin --flow welcome',
      ),
    )
  addCheck(steps)
  addPin(steps)
}

function addCheck(steps: Command): void {
  addSettings(steps.command('check'), ['data'])
    .description(
      'say which published steps have lost their element, why, and what to do; exit status 1 if any is drifting, flaky or broken',
    )
    .option('--org <org>', 'id or slug; all organisations unless given')
    .option('--flow <key>', 'one flow alone')
    .option('--json', 'print {ok, steps: [{flow, step, state, people, pages, suggestion, …}]}')
    .addHelpText(
      'after',
      `${examples(
        'cairn steps check',
        'cairn steps check --org harbor --flow welcome',
        'cairn steps check --json | jq -r \'.steps[] | select(.state == "broken") | .step\'',
      )}

States are made from what pages reported in the last 24 hours, each person
counted once, by the latest report. Under 5 people a step is unknown, which is
no failure. "Since" looks back 7 days.`,
    )
    .action(async (options: Options, command: Command) => {
      const { data } = settingsOf(command, 'data')
      const { organisations, checked, isAmong } = await withData(data, database =>
        checkedSteps(database, options, Date.now()),
      )
      const ok = !checked.some(({ health }) => isBadState(health.state))
      if (!ok) process.exitCode = exitStatus.failure
      if (options.json) return printJson({ ok, steps: checked.map(shown) })
      print(...stepReport(checked, { organisations, isAmong }))
    })
}

async function checkedSteps(database: Database, { org, flow: key }: Options, now: number) {
  const all = listOrganisations(database)
  const organisations =
    org === undefined && all.length > 0 ? all : [organisationNamed(database, org)]
  const catalogue = new StoredCatalogue(database)
  const reader = new StepReader(database)
  const checked: CheckedStep[] = []
  let isKnown = key === undefined
  for (const { row, slug } of organisations) {
    const organisation = catalogue.organisationByRow(row)
    const { flows } = JSON.parse(catalogue.publishedFlows(organisation).text) as { flows: Flow[] }
    for (const flow of flows) {
      if (key !== undefined && flow.key !== key) continue
      isKnown = true
      for (const step of flow.steps) {
        const { target } = step
        const entry = catalogue.step(step.id)
        if (target === null || entry === null) continue
        const evidence = await reader.evidence(row, entry.row, flow.version, now)
        const health = stepState(evidence.people, target)
        const { outcome } = takenOver(reader.baseline(row, entry.row), target, target)
        checked.push({
          organisation: slug,
          flow,
          step: { ...step, target },
          health,
          evidence,
          canBePinned: outcome === 'pinned',
        })
      }
    }
  }
  if (!isKnown) {
    throw new CommandFailure(
      `no published flow has the key "${key?.slice(0, 64)}": see "cairn flows list"`,
    )
  }
  return {
    checked,
    organisations: organisations.map(({ slug }) => slug),
    isAmong: all.length > 1,
  }
}

/** A step for scripts. */
function shown({ organisation, flow, step, health, evidence }: CheckedStep) {
  const { people, reports, pages, messages, alternate, fingerprints } = evidence
  const { baselineAt, latest, suggestion, ...verdicts } = fingerprints
  return {
    organisation,
    flow: flow.key,
    flowId: flow.id,
    version: flow.version,
    step: step.key,
    stepId: step.id,
    selector: step.target.selector,
    required: step.target.required,
    isPinned: step.target.fingerprint !== undefined,
    state: health.state,
    okRate: health.okRate,
    people,
    reports,
    lastFindAt: isoTimeOrNull(evidence.lastFindAt),
    lastMissAt: isoTimeOrNull(evidence.lastMissAt),
    missesSince: isoTimeOrNull(evidence.missesSince),
    makeshiftSince: isoTimeOrNull(evidence.makeshiftSince),
    pages,
    messages: messages.map(({ lastAt, ...message }) => ({
      ...message,
      lastAt: isoTimeOrNull(lastAt),
    })),
    alternate,
    fingerprints: {
      baselineAt: isoTimeOrNull(baselineAt),
      ...verdicts,
      latest: latest && { ...latest, at: isoTimeOrNull(latest.at) },
    },
    suggestion,
  }
}
