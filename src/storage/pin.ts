import type { Database } from 'bun:sqlite'
import { type Flow, type FlowDefinition, meantBy, type Step, type Target } from '../core/flow.ts'
import { type FlowFingerprint, pinnedFingerprint } from '../core/flow-fingerprint.ts'
import { healthWindowMs } from '../core/step-health.ts'
import { StoredCatalogue } from './catalogue.ts'
import { inTransaction } from './catalogue-change.ts'
import { readFlows } from './flow-reader.ts'
import { pushFlows } from './flow-store.ts'
import { type StepBaseline, StepReader } from './step-reader.ts'

/** Why a step has nothing to take over. */
export type PinHindrance = 'no baseline' | 'draft differs' | 'says too little'

/** A published step that points at an element, and what became of taking over its baseline. */
export interface Pin {
  flowKey: string
  stepKey: string
  selector: string
  outcome: 'pinned' | 'already pinned' | PinHindrance
  baseline: { at: number; locale: string | null } | null
  /** Of the fingerprints of the last 24 hours, how many looked like the baseline. */
  looks: { alike: number; of: number }
  fingerprint: FlowFingerprint | null
}

/** Which steps: of one flow, and of these one, or all. */
export interface PinScope {
  flowKey?: string
  stepKey?: string
}

/**
 * Takes the baselines of published steps over into their flows' drafts, as their `fingerprint`.
 * Drafts are made as a push makes them.
 *
 * @param options.isTrial changes nothing
 */
export function pinBaselines(
  database: Database,
  orgRow: number,
  { flowKey, stepKey }: PinScope,
  { now, isTrial }: { now: number; isTrial: boolean },
): Pin[] {
  return inTransaction(database, () => {
    const catalogue = new StoredCatalogue(database)
    const organisation = catalogue.organisationByRow(orgRow)
    const { flows } = JSON.parse(catalogue.publishedFlows(organisation).text) as { flows: Flow[] }
    const reader = new StepReader(database)
    const pinOf = (flow: Flow, step: Step, draft: FlowDefinition): Pin[] => {
      const row = catalogue.step(step.id)?.row
      if (!step.target || row === undefined) return []
      const sinceMs = now - healthWindowMs
      const { match, drift, gone } = reader.fingerprints(orgRow, row, sinceMs, flow.version)
      const baseline = reader.baseline(orgRow, row)
      const drafted = draft.steps.find(({ key }) => key === step.key)?.target ?? null
      return [
        {
          flowKey: flow.key,
          stepKey: step.key,
          selector: step.target.selector,
          baseline: baseline && { at: baseline.at, locale: baseline.locale },
          looks: { alike: match, of: match + drift + gone },
          ...takenOver(baseline, step.target, drafted),
        },
      ]
    }
    const asked = flows.filter(({ key }) => flowKey === undefined || key === flowKey)
    const pinned = asked.map(flow => {
      const [stored] = readFlows(database, orgRow, [flow.key])
      const newest = (stored?.draft ?? stored?.published)!
      const steps = flow.steps.filter(({ key }) => stepKey === undefined || key === stepKey)
      return { newest, pins: steps.flatMap(step => pinOf(flow, step, newest)) }
    })
    const drafts = pinned
      .filter(({ pins }) => pins.some(({ outcome }) => outcome === 'pinned'))
      .map(({ newest, pins }) => withPins(newest, pins))
    if (!isTrial && drafts.length > 0) pushFlows(database, orgRow, drafts, now)
    return pinned.flatMap(({ pins }) => pins)
  })
}

/**
 * What a draft would take over of a baseline.
 *
 * @param published the target that pages have, and that the baseline should be of
 */
export function takenOver(
  baseline: StepBaseline | null,
  published: Target,
  draft: Target | null,
): Pick<Pin, 'outcome' | 'fingerprint'> {
  const isOf = (target: Target | null) =>
    target !== null && Bun.deepEquals(baseline?.target, meantBy(target))
  if (!baseline || !isOf(published)) return { outcome: 'no baseline', fingerprint: null }
  if (!isOf(draft)) return { outcome: 'draft differs', fingerprint: null }
  const fingerprint = pinnedFingerprint(baseline.print, baseline.locale)
  if (!fingerprint) return { outcome: 'says too little', fingerprint }
  const isSame = Bun.deepEquals(draft?.fingerprint, fingerprint)
  return { outcome: isSame ? 'already pinned' : 'pinned', fingerprint }
}

const withPins = (flow: FlowDefinition, pins: readonly Pin[]): FlowDefinition => ({
  ...flow,
  steps: flow.steps.map(step => {
    const pin = pins.find(({ stepKey }) => stepKey === step.key)
    if (!step.target || pin?.outcome !== 'pinned' || !pin.fingerprint) return step
    return { ...step, target: { ...step.target, fingerprint: pin.fingerprint } }
  }),
})
