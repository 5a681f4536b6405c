import { World, type WorldOptions } from './world.ts'

/** The worlds in which laws over random histories are tested. */

/**
 * A world with blocks as small as can be, of runs of any age.
 *
 * @param stopped a stopped world to go on with
 */
export function lawWorld(
  stopped?: Partial<Pick<World, 'dataDir' | 'clock'>>,
  following?: WorldOptions['following'],
): World {
  const world = new World({
    blockPolicy: { minRuns: 1, maxRuns: 3, settledMs: 0 },
    ...(stopped && { dataDir: stopped.dataDir, clock: stopped.clock }),
    following,
  })
  // No law is about power cuts, and thousands of commits would wait for the disk.
  world.database.run('pragma synchronous = off')
  return world
}
