import { AppError } from '../../core/errors.ts'
import { type FlowFingerprint, pinnedFingerprint } from '../../core/flow/fingerprint.ts'
import { type FlowDefinition, meantBy, type Target } from '../../core/flow/flow.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { healthWindowMs } from '../../core/step/health.ts'
import type { Clock } from '../../core/time/clock.ts'
import { patientSlices, type TimeSlices } from '../../scheduling/cooperative.ts'
import type { AuthoredFlow, LookStore, StepBaseline } from '../../storage/interfaces/authoring.ts'
import { etagOf, newestDefinition } from './rules.ts'
import {
  type Authoring,
  type By,
  type Expected,
  expectationOf,
  maxTries,
  othersChange,
} from './service.ts'

/** Why there is nothing to take over for a step. */
export type PinHindrance = 'no baseline' | 'draft differs' | 'says too little'

/** A published step that points at an element, and what happened when its baseline was taken over. */
export interface Pin {
  flowKey: string
  stepKey: string
  selector: string
  outcome: 'pinned' | 'already pinned' | PinHindrance
  baseline: { at: number; locale: string | null } | null
  /** How many fingerprints of the last 24 hours there are, and how many of these look like the baseline. */
  looks: { alike: number; of: number }
  fingerprint: FlowFingerprint | null
}

/** Which steps: all, those of one flow, or one step of that flow. */
export interface PinScope {
  flowKey?: string
  stepKey?: string
}

/**
 * Copies the baselines of published steps into the drafts of their flows, as their `fingerprint`. Drafts
 * are made as a push makes them.
 */
export class Pins {
  constructor(
    private readonly authoring: Authoring,
    private readonly looks: LookStore,
    private readonly clock: Clock,
  ) {}

  /** @param isTrial if true, changes nothing */
  async pin(orgRef: OrganisationRef, scope: PinScope, by: By, isTrial: boolean): Promise<Pin[]> {
    // An organisation may have fifty thousand steps, so other work gets its turn in between.
    const slices = patientSlices()
    for (let tries = 1; tries <= maxTries; tries++) {
      const flows = (await this.authoring.flows(orgRef)).filter(
        ({ key, status }) =>
          status === 'published' && (scope.flowKey === undefined || key === scope.flowKey),
      )
      const pinned: { flow: AuthoredFlow; pins: Pin[] }[] = []
      for (const flow of flows) {
        pinned.push({ flow, pins: await this.pinsOf(orgRef, flow, scope, slices) })
      }
      const changed = pinned.filter(({ pins }) => pins.some(({ outcome }) => outcome === 'pinned'))
      const isDone = isTrial || changed.length === 0 || (await this.change(orgRef, changed, by))
      if (isDone) return pinned.flatMap(({ pins }) => pins)
    }
    throw othersChange()
  }

  /** @returns false if somebody has edited one of the flows meanwhile; then nothing was done */
  private async change(
    orgRef: OrganisationRef,
    pinned: readonly { flow: AuthoredFlow; pins: readonly Pin[] }[],
    by: By,
  ): Promise<boolean> {
    const etags = new Map(pinned.map(({ flow }) => [flow.key, etagOf(flow)]))
    const drafts = pinned.map(({ flow, pins }) => withPins(newestDefinition(flow), pins))
    const isExpected: Expected = (flow, key) =>
      expectationOf(etags.get(key) ?? null, null)(flow, key)
    try {
      await this.authoring.push(orgRef, drafts, by, { isExpected, action: 'flow.pin' })
      return true
    } catch (error) {
      if (error instanceof AppError && error.code === 'precondition_failed') return false
      throw error
    }
  }

  private async pinsOf(
    orgRef: OrganisationRef,
    flow: AuthoredFlow,
    { stepKey }: PinScope,
    slices: TimeSlices,
  ): Promise<Pin[]> {
    const { key: flowKey, newest } = flow
    if (!newest) return []
    const { version, definition } = newest
    const draft = newestDefinition(flow)
    const since = this.clock.now() - healthWindowMs
    const drafted = new Map(draft.steps.map(({ key, target }) => [key, target]))
    const pins: Pin[] = []
    for (const { key, target } of definition.steps) {
      if (!target || (stepKey !== undefined && key !== stepKey)) continue
      await slices.rest()
      const named = { flowKey, stepKey: key, version }
      const { baseline, ...looks } = await this.looks.looks(orgRef, named, since)
      pins.push({
        flowKey,
        stepKey: key,
        selector: target.selector,
        baseline: baseline && { at: baseline.at, locale: baseline.locale },
        looks,
        ...takenOver(baseline, target, drafted.get(key) ?? null),
      })
    }
    return pins
  }
}

/**
 * What a draft would take over from a baseline.
 *
 * @param published the target that pages have, which the baseline should belong to
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
