import { invalid } from '../../core/errors.ts'
import { isoTimeOrNull } from '../../core/time/clock.ts'
import { json } from '../../http/responder.ts'
import { managing, type Route, route } from '../../http/route.ts'
import type { Pin, Pins } from './pins.ts'
import type { Repairs } from './repairs.ts'
import { byOf, expectedIn, keyOf, told } from './replies.ts'
import { etagOf } from './rules.ts'
import { PinAnswer, PinBody, type PinnedStep, RepairAnswer, RepairBody } from './schema.ts'

const writes = managing('flows:write')

/** Routes that take what pages have reported about steps over into drafts. */
export function stepRoutes({ pins, repairs }: { pins: Pins; repairs: Repairs }): Route[] {
  return [
    route({
      ...writes,
      method: 'POST',
      path: '/manage/pin',
      operation: 'pinSteps',
      summary: "Take the baselines of published steps over into their flows' drafts",
      description:
        'Pages then find an element by what it was like where no selector does. Read what is taken over before you publish it.',
      body: PinBody,
      responses: { 200: { description: 'The outcome for each step.', schema: PinAnswer } },
      async handle(call) {
        const { flow, step, dryRun = false } = call.body
        if (step !== undefined && flow === undefined) {
          throw invalid({ path: '/flow', message: 'Is required beside step' })
        }
        const scope = {
          ...(flow !== undefined && { flowKey: flow }),
          ...(step !== undefined && { stepKey: step }),
        }
        const pinned = await pins.pin(call.org.ref, scope, byOf(call), dryRun)
        return json(200, { dryRun, steps: pinned.map(toldPin) })
      },
    }),
    route({
      ...writes,
      method: 'POST',
      path: '/manage/flows/:key/steps/:step/repair',
      operation: 'repairStep',
      summary: "Put a selector that finds a step's element into the flow's draft",
      description:
        'The one that you give, or else the one by which pages would find the element again, by what ' +
        'they told in the last 24 hours of the published version. Nothing is published.',
      body: RepairBody,
      isConditional: true,
      errors: ['flow_not_found', 'step_not_found', 'nothing_to_repair', 'flow_locked'],
      responses: {
        200: { description: 'The selector before and after.', schema: RepairAnswer, hasETag: true },
      },
      async handle(call) {
        const { selector, alone = false, note } = call.body
        if (alone && selector === undefined) {
          throw invalid({ path: '/selector', message: 'Is required beside alone' })
        }
        const given = selector === undefined ? null : { selector, isAlone: alone }
        const stepKey = call.params.step ?? ''
        const named = { flowKey: keyOf(call), stepKey }
        const by = byOf(call, note)
        const { flow, ...repair } = await repairs.repair(
          call.org.ref,
          named,
          given,
          by,
          expectedIn(call),
        )
        const body = { step: stepKey, ...repair, flow: told(flow) }
        return json(200, body, { ETag: etagOf(flow), 'Cache-Control': 'private, no-cache' })
      },
    }),
  ]
}

const toldPin = ({ flowKey, stepKey, baseline, looks, ...pin }: Pin): PinnedStep => ({
  flow: flowKey,
  step: stepKey,
  ...pin,
  baselineAt: isoTimeOrNull(baseline?.at ?? null),
  locale: baseline?.locale ?? null,
  looks,
})
