import { SeededRandom } from '../../../src/cli/demo/random.ts'
import { progress } from '../../report/progress.ts'
import { ClusterScene } from '../cluster/rounds.ts'
import { type Ledger, none, type Torture } from '../ledger.ts'

/** How many rounds the long form has; the short form has each kind of trouble once. */
const rounds = 200

/** Nodes over PostgreSQL, where one thing after another fails in the middle of their work. */
export async function cluster({ isLong, seed }: Torture): Promise<Ledger> {
  await using scene = await ClusterScene.open(new SeededRandom(`cluster ${seed}`))
  const troubles = Object.keys(scene.troubles)
  const count = isLong ? rounds : troubles.length
  for (let done = 0; done < count; done++) {
    const trouble = troubles[done % troubles.length]!
    progress(`${done + 1} of ${count}: ${trouble}`)
    await scene.round(trouble)
  }
  const { found } = scene
  return {
    title: `Two nodes over PostgreSQL, ${found.rounds} rounds of ${troubles.length} kinds of trouble`,
    entries: [
      { what: 'events acknowledged', value: found.acknowledged },
      { what: 'refused (503)', value: found.refused },
      { what: 'without an answer that says what became of them', value: found.unknown },
      { what: 'commits cut in the middle', value: found.cuts },
      none('acknowledged events that are not there', found.lost),
      none('acknowledged while a standby hung that commits wait for', found.toldTooEarly),
      none('acknowledged events that such a standby does not have', found.missingOnStandby),
      none('events that are there twice', found.twice),
      none('events that were refused and are there', found.keptThoughRefused),
      none('rebuilds that found other numbers than the events say', found.wrongNumbers),
    ],
  }
}
