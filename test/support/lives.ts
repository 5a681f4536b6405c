import { analyticsService, questionOf } from '../../src/modules/analytics/service.ts'
import { autumnAnchor, reach } from './histories.ts'
import type { StoredWorld } from './stored-history.ts'
import { World, type WorldOptions } from './world.ts'

/** The worlds in which laws over random histories are tested. */

/**
 * A world with segments as small as can be, of runs of any age.
 *
 * @param stopped a stopped world to go on with
 */
export function lawWorld(
  stopped?: Partial<Pick<World, 'dataDir' | 'clock'>>,
  following?: WorldOptions['following'],
): World {
  const sealing = {
    runsPerSegment: 2,
    mostRunsPerSegment: 20,
    changesToLook: 1,
    settledMs: 0,
    pauseMs: 0,
  }
  const world = new World({
    sealing,
    ...(stopped && { dataDir: stopped.dataDir, clock: stopped.clock }),
    following,
  })
  // No law is about power cuts, and thousands of commits would wait for the disk.
  world.database.run('pragma synchronous = off')
  return world
}

const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10)

/** The analytics of such a history's flows, without the ids, which differ between two organisations. */
export function analyticsOf(world: World, { flowIds }: StoredWorld) {
  const asked = {
    from: dateOf(autumnAnchor - reach),
    to: dateOf(autumnAnchor + reach),
    timezone: 'Europe/Berlin',
  }
  // One service for both flows, because it computes one answer at a time.
  const analytics = analyticsService(world)
  const answers = ['welcome', 'setup'].map(async key => {
    const flow = world.stores.catalogue().flow(flowIds.get(key) as string)!
    const question = questionOf(flow, asked, autumnAnchor)
    const answer = await analytics.answer(question, new AbortController().signal)
    return {
      ...answer,
      flowId: '',
      steps: answer.steps.map(step => ({ ...step, stepId: '' })),
      checklist: answer.checklist && {
        ...answer.checklist,
        items: answer.checklist.items.map(item => ({ ...item, itemId: '' })),
      },
    }
  })
  return Promise.all(answers)
}
