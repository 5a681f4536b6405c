import { AppError, invalid } from '../../core/errors.ts'
import { type FlowDefinition, meantBy, type Target } from '../../core/flow/flow.ts'
import type { OrganisationRef } from '../../core/reference.ts'
import { healthWindowMs } from '../../core/step/health.ts'
import { readSelector } from '../../core/step/selector-syntax.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { AuthoredFlow, LookStore } from '../../storage/interfaces/authoring.ts'
import { newestDefinition } from './rules.ts'
import type { Authoring, By, Expected } from './service.ts'

/** What a repair did to a step's selector. */
export interface Repair {
  outcome: 'repaired' | 'unchanged'
  /** Null if the caller gave the selector. */
  suggestedBy: 'fingerprints' | 'reports' | null
  before: string
  selector: string
  flow: AuthoredFlow
}

/** A step of a flow, by their keys. */
interface NamedStep {
  flowKey: string
  stepKey: string
}

const nothingToRepair = (message: string) => new AppError('nothing_to_repair', message)

const targetOf = (definition: FlowDefinition | undefined, stepKey: string): Target | null =>
  definition?.steps.find(({ key }) => key === stepKey)?.target ?? null

/**
 * Puts another selector into the draft of a flow whose step has lost its element: one that the caller
 * gives, or the one with which pages would find the element again. Nothing is published.
 */
export class Repairs {
  constructor(
    private readonly authoring: Authoring,
    private readonly looks: LookStore,
    private readonly clock: Clock,
  ) {}

  /**
   * @param given the selector, and whether it finds the element by itself; null to use the suggested one
   * @throws AppError `flow_not_found`, `step_not_found`, `nothing_to_repair`, `validation_failed`, and what
   *   `isExpected` throws
   */
  async repair(
    orgRef: OrganisationRef,
    named: NamedStep,
    given: { selector: string; isAlone: boolean } | null,
    by: By,
    isExpected: Expected,
  ): Promise<Repair> {
    const { flowKey, stepKey } = named
    const read = await this.authoring.flow(orgRef, flowKey)
    const suggested = given === null ? await this.suggested(orgRef, read, stepKey) : null
    let made: Omit<Repair, 'flow'> | null = null
    const edited = (flow: AuthoredFlow): FlowDefinition => {
      const definition = newestDefinition(flow)
      const target = draftedTarget(definition, stepKey)
      const published = targetOf(flow.newest?.definition, stepKey)
      const selector = given?.selector ?? suggestedFor(target, published, suggested)
      const losesPlace = given?.isAlone === true && target.nth !== null
      const isSame = target.selector === selector && !losesPlace
      const outcome = isSame ? 'unchanged' : 'repaired'
      made = { outcome, suggestedBy: suggested?.by ?? null, before: target.selector, selector }
      if (isSame) return definition
      const read = readSelector(selector)
      if ('fault' in read) throw invalid({ path: '/selector', message: read.fault })
      // A suggested selector finds one element by itself, so the old place among several no longer applies.
      return withSelector(definition, stepKey, selector, given?.isAlone ?? true)
    }
    const how = { isExpected, action: 'flow.repair' }
    const flow = await this.authoring.edit(orgRef, flowKey, by, how, edited)
    return { ...made!, flow }
  }

  private async suggested(orgRef: OrganisationRef, flow: AuthoredFlow, stepKey: string) {
    if (!flow.newest) return null
    const named = { flowKey: flow.key, stepKey, version: flow.newest.version }
    const since = this.clock.now() - healthWindowMs
    const { byFingerprints, byReports } = await this.looks.suggested(orgRef, named, since)
    if (byFingerprints !== null) return { selector: byFingerprints, by: 'fingerprints' } as const
    return byReports === null ? null : ({ selector: byReports, by: 'reports' } as const)
  }
}

/** @throws AppError `step_not_found`; `nothing_to_repair` if the step points at no element */
function draftedTarget(definition: FlowDefinition, stepKey: string): Target {
  const step = definition.steps.find(({ key }) => key === stepKey)
  if (!step) throw new AppError('step_not_found', 'The flow has no step of this key')
  if (step.target) return step.target
  throw nothingToRepair('This step points at no element')
}

/** @throws AppError `nothing_to_repair` if nothing is suggested for the element that the draft means */
function suggestedFor(
  drafted: Target,
  published: Target | null,
  suggested: { selector: string } | null,
): string {
  if (suggested === null) {
    throw nothingToRepair('Nothing suggests another selector for this step: give one')
  }
  const { selector } = suggested
  const isMeant = published !== null && Bun.deepEquals(meantBy(drafted), meantBy(published))
  if (isMeant || drafted.selector === selector) return selector
  throw nothingToRepair(
    'The draft points at another element than the one that pages have told of: give a selector',
  )
}

function withSelector(
  flow: FlowDefinition,
  stepKey: string,
  selector: string,
  isAlone: boolean,
): FlowDefinition {
  return {
    ...flow,
    steps: flow.steps.map(step => {
      if (step.key !== stepKey || !step.target) return step
      const { alternates, nth, ...rest } = step.target
      const others = alternates?.filter(other => other !== selector) ?? []
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
  }
}
