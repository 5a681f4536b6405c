import type { StaticDecode } from '@sinclair/typebox'
import { flowNotFound, invalid } from '../../core/errors.ts'
import type { Flow, Step } from '../../core/flow/flow.ts'
import type { Organisation } from '../../core/organisation/catalogue.ts'
import type { OrganisationRef, StepRef } from '../../core/reference.ts'
import { isBadState, stepState } from '../../core/step/health.ts'
import { TimeSlices } from '../../scheduling/cooperative.ts'
import type { StepEvidenceStore, StepStores } from '../../storage/interfaces/steps.ts'
import { pinnedFrom } from '../authoring/steps.ts'
import { historyOf, historyRange, type PastDays } from './history.ts'
import {
  type CheckedStep,
  type CheckQuery,
  healthDefinitions,
  historyDefinitions,
  type StepCheck,
} from './schema.ts'

type Target = NonNullable<Step['target']>

type Pointing = Pick<Step, 'id' | 'key' | 'title' | 'target'>

/** The page's own element that opens a launcher. Its first item stands for it, because it has no id. */
function openerOf({ launcher }: Flow): Pointing[] {
  const [first] = launcher?.items ?? []
  if (!first || launcher?.target === undefined) return []
  const target: Target = {
    ...{ selector: launcher.target, text: null, nth: null },
    ...{ waitMs: 0, required: true, onMissing: 'skip' },
  }
  return [{ id: first.id, key: first.key, title: 'Element that opens it', target }]
}

export interface CheckDeps {
  stores: StepStores
  evidence: StepEvidenceStore
  /** What a history needs: days that are over, and how long reports are kept by default. */
  kept?: { past: PastDays; retentionDays: number }
}

/**
 * The health of published steps that point at an element, and the evidence for it.
 *
 * @param query `flow`: only one flow; `history`: with the days of its steps
 * @throws AppError `flow_not_found` if no published flow has that key, `validation_failed`
 */
export async function checkSteps(
  organisation: Organisation,
  { flow: flowKey, history, timezone }: CheckQuery,
  now: number,
  { stores, evidence, kept }: CheckDeps,
): Promise<StaticDecode<typeof StepCheck>> {
  const hasHistory = history === '1' && kept !== undefined
  if (hasHistory && flowKey === undefined) {
    throw invalid({ path: '/history', message: 'Set flow too: a history is of one flow' })
  }
  const range = historyRange(timezone, now)
  const catalogue = stores.catalogue()
  const { text } = catalogue.publishedFlows(organisation)
  const { flows } = JSON.parse(text) as { flows: Flow[] }
  const selected = flows.filter(({ key }) => flowKey === undefined || key === flowKey)
  if (flowKey !== undefined && selected.length === 0) throw flowNotFound(flowKey)
  const slices = new TimeSlices()
  const steps: CheckedStep[] = []
  for (const flow of selected) {
    for (const step of [...flow.steps, ...openerOf(flow)]) {
      const stepRef = catalogue.step(step.id)?.ref
      if (step.target === null || stepRef === undefined) continue
      await slices.rest()
      const named = { orgRef: organisation.ref, stepRef, now }
      const one = await checked(named, flow, step, step.target, evidence)
      if (hasHistory) {
        const stepTarget = { ref: stepRef, required: one.required }
        one.history = await historyOf(organisation, stepTarget, { range, now, ...kept })
      }
      steps.push(one)
    }
  }
  const { from, to } = range
  return {
    ok: !steps.some(({ state }) => isBadState(state)),
    steps,
    ...(hasHistory && { historyRange: { from, to, timezone: range.timezone } }),
    definitions: hasHistory ? { ...healthDefinitions, ...historyDefinitions } : healthDefinitions,
  }
}

async function checked(
  { orgRef, stepRef, now }: { orgRef: OrganisationRef; stepRef: StepRef; now: number },
  flow: Flow,
  { id, key, title }: Pointing,
  target: Target,
  evidence: StepEvidenceStore,
): Promise<CheckedStep> {
  const found = await evidence.evidence(orgRef, stepRef, flow.version, now)
  const { state, okRate } = stepState(found.people, target)
  const { outcome } = pinnedFrom(await evidence.baseline(orgRef, stepRef), target, target)
  return {
    flow: flow.key,
    flowId: flow.id,
    version: flow.version,
    step: key,
    stepId: id,
    selector: target.selector,
    required: target.required,
    isPinned: target.fingerprint !== undefined,
    state,
    okRate,
    ...found,
    ...(title && { title }),
    canBePinned: outcome === 'pinned',
  }
}
