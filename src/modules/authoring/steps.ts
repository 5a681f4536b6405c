import { AppError, invalid } from '../../core/errors.ts'
import { pinnedFingerprint } from '../../core/flow/fingerprint.ts'
import { type FlowDefinition, meantBy, type Target } from '../../core/flow/flow.ts'
import { revised } from '../../core/revised.ts'
import { healthWindowMs } from '../../core/step/health.ts'
import { readSelector } from '../../core/step/selector-syntax.ts'
import { patientSlices, type TimeSlices } from '../../scheduling/cooperative.ts'
import type { AuthoredFlow, LookStore, StepBaseline } from '../../storage/interfaces/authoring.ts'
import { etagOf, newestDefinition } from './rules.ts'
import type { Pin } from './schema.ts'
import {
  type Authoring,
  type Expected,
  editDraft,
  expectationOf,
  flowNamed,
  pushFlows,
} from './service.ts'

/** Takes what pages have reported about steps over into drafts. Nothing is published. */

interface StepAuthoring extends Authoring {
  looks: LookStore
}

/** Which steps: all, those of one flow, or one step of that flow. */
interface PinScope {
  flow?: string | undefined
  step?: string | undefined
}

/**
 * Copies the baselines of published steps into the drafts of their flows, as their `fingerprint`.
 *
 * @param isTrial if true, changes nothing
 */
export async function pinSteps(
  authoring: StepAuthoring,
  scope: PinScope,
  isTrial: boolean,
): Promise<Pin[]> {
  // An organisation may have fifty thousand steps, so other work gets its turn in between.
  const slices = patientSlices()
  return revised(async () => {
    const { flows } = await authoring.store.read(authoring.orgRef)
    const pins: Pin[] = []
    const changed: AuthoredFlow[] = []
    for (const flow of flows) {
      if (flow.status !== 'published' || (scope.flow ?? flow.key) !== flow.key) continue
      const ofFlow = await pinsOf(authoring, flow, scope.step, slices)
      pins.push(...ofFlow)
      if (ofFlow.some(({ outcome }) => outcome === 'pinned')) changed.push(flow)
    }
    if (isTrial || changed.length === 0) return pins
    return (await saved(authoring, changed, pins)) ? pins : null
  })
}

/** @returns false if somebody has edited one of the flows meanwhile; then nothing was done */
async function saved(authoring: Authoring, flows: readonly AuthoredFlow[], pins: readonly Pin[]) {
  const etags = new Map(flows.map(flow => [flow.key, etagOf(flow)]))
  const drafts = flows.map(flow => withPins(newestDefinition(flow), pins))
  const isExpected: Expected = (flow, key) => expectationOf(etags.get(key) ?? null, null)(flow, key)
  try {
    await pushFlows(authoring, drafts, { isExpected, action: 'flow.pin' })
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'precondition_failed') return false
    throw error
  }
}

async function pinsOf(
  { looks: store, orgRef, now }: StepAuthoring,
  flow: AuthoredFlow,
  stepKey: string | undefined,
  slices: TimeSlices,
): Promise<Pin[]> {
  const { key: flowKey, newest } = flow
  if (!newest) return []
  const drafted = new Map(newestDefinition(flow).steps.map(({ key, target }) => [key, target]))
  const pins: Pin[] = []
  for (const { key, target } of newest.definition.steps) {
    if (!target || (stepKey ?? key) !== key) continue
    await slices.rest()
    const step = { flowKey, stepKey: key, version: newest.version }
    const { baseline, ...looks } = await store.looks(orgRef, step, now - healthWindowMs)
    pins.push({
      flow: flowKey,
      step: key,
      selector: target.selector,
      baselineAt: baseline?.at ?? null,
      locale: baseline?.locale ?? null,
      looks,
      ...pinnedFrom(baseline, target, drafted.get(key) ?? null),
    })
  }
  return pins
}

/**
 * What a draft takes over from a baseline.
 *
 * @param published the target that pages have, which the baseline should belong to
 */
export function pinnedFrom(
  baseline: StepBaseline | null,
  published: Target,
  draft: Target | null,
): Pick<Pin, 'outcome' | 'fingerprint'> {
  const isOf = (target: Target | null) =>
    target !== null && Bun.deepEquals(baseline?.target, meantBy(target))
  if (!baseline || !isOf(published)) return { outcome: 'no baseline', fingerprint: null }
  if (!isOf(draft)) return { outcome: 'draft differs', fingerprint: null }
  const fingerprint = pinnedFingerprint(baseline.print, baseline.locale)
  if (!fingerprint) return { outcome: 'says too little', fingerprint: null }
  const isSame = Bun.deepEquals(draft?.fingerprint, fingerprint)
  return { outcome: isSame ? 'already pinned' : 'pinned', fingerprint }
}

const withPins = (flow: FlowDefinition, pins: readonly Pin[]): FlowDefinition => ({
  ...flow,
  steps: flow.steps.map(step => {
    const pin = pins.find(one => one.flow === flow.key && one.step === step.key)
    if (!step.target || pin?.outcome !== 'pinned' || !pin.fingerprint) return step
    return { ...step, target: { ...step.target, fingerprint: pin.fingerprint } }
  }),
})

const nothingToRepair = (message: string) => new AppError('nothing_to_repair', message)

/**
 * Puts another selector into the draft of a flow whose step has lost its element.
 *
 * @param sent the selector, and whether it finds one element; null to use the one that pages suggest
 * @throws AppError `flow_not_found`, `step_not_found`, `nothing_to_repair`, `validation_failed`, and what
 *   `isExpected` throws
 */
export async function repairStep(
  authoring: StepAuthoring,
  flowKey: string,
  stepKey: string,
  sent: { selector: string; isAlone: boolean } | null,
  isExpected: Expected,
) {
  const read = await flowNamed(authoring, flowKey)
  const suggested = sent === null ? await suggestedFor(authoring, read, stepKey) : null
  let before = ''
  let selector = ''
  let isSame = false
  const edited = (flow: AuthoredFlow): FlowDefinition => {
    const definition = newestDefinition(flow)
    const target = draftedTarget(definition, stepKey)
    const published = flow.newest?.definition.steps.find(({ key }) => key === stepKey)?.target
    before = target.selector
    selector = sent?.selector ?? usable(suggested?.selector, target, published ?? null)
    const losesPlace = sent?.isAlone === true && target.nth !== null
    isSame = before === selector && !losesPlace
    if (isSame) return definition
    const syntax = readSelector(selector)
    if ('problem' in syntax) throw invalid({ path: '/selector', message: syntax.problem })
    // A suggested selector finds one element by itself, so the old place among several no longer applies.
    return withSelector(definition, stepKey, selector, sent?.isAlone ?? true)
  }
  const how = { isExpected, action: 'flow.repair' }
  const flow = await editDraft(authoring, flowKey, how, edited)
  const outcome: 'repaired' | 'unchanged' = isSame ? 'unchanged' : 'repaired'
  return { outcome, suggestedBy: suggested?.by ?? null, before, selector, flow }
}

async function suggestedFor(
  { looks, orgRef, now }: StepAuthoring,
  { key: flowKey, newest }: AuthoredFlow,
  stepKey: string,
) {
  if (!newest) return null
  const step = { flowKey, stepKey, version: newest.version }
  const suggested = await looks.suggested(orgRef, step, now - healthWindowMs)
  const { byFingerprints, byReports } = suggested
  if (byFingerprints !== null) return { selector: byFingerprints, by: 'fingerprints' } as const
  return byReports === null ? null : ({ selector: byReports, by: 'reports' } as const)
}

/** @throws AppError `step_not_found`; `nothing_to_repair` if the step points at no element */
function draftedTarget(definition: FlowDefinition, stepKey: string): Target {
  const step = definition.steps.find(({ key }) => key === stepKey)
  if (!step) throw new AppError('step_not_found', 'The flow has no step of this key')
  if (step.target) return step.target
  throw nothingToRepair('This step points at no element')
}

/** @throws AppError `nothing_to_repair` if nothing is suggested for the element that the draft means */
function usable(selector: string | undefined, drafted: Target, published: Target | null): string {
  if (selector === undefined) {
    throw nothingToRepair('Pages suggest no other selector for this step: send one')
  }
  const isMeant = published !== null && Bun.deepEquals(meantBy(drafted), meantBy(published))
  if (isMeant || drafted.selector === selector) return selector
  throw nothingToRepair(
    'The draft points at another element than the one that pages have reported: send a selector',
  )
}

const withSelector = (
  flow: FlowDefinition,
  stepKey: string,
  selector: string,
  isAlone: boolean,
): FlowDefinition => ({
  ...flow,
  steps: flow.steps.map(step => {
    if (step.key !== stepKey || !step.target) return step
    const { alternates = [], nth, ...rest } = step.target
    const others = alternates.filter(other => other !== selector)
    return {
      ...step,
      target: {
        ...rest,
        selector,
        nth: isAlone ? null : nth,
        ...(others.length > 0 && { alternates: others }),
      },
    }
  }),
})
