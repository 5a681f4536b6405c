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
