import { SeededRandom } from '../../../src/cli/demo/random.ts'
import { progress } from '../../report/progress.ts'
import { Workplace } from '../../support/binary.ts'
import { damageIn } from '../../support/stored.ts'
import {
  Editors,
  editedIn,
  faultsOfPublications,
  type Publication,
  type PublicationFaults,
  publicationFaults,
} from '../editors.ts'
import { type Entry, type Ledger, none, type Torture } from '../ledger.ts'

/** How many times the server is killed, and how long it lives at most. */
const kills = { short: 12, long: 400 }
const lifeMs = 400

/** What else happens to the server: it ends within a publication, or is slow there, or neither. */
const ways = ['during_publish=exit@', 'during_publish=delay:30', ''] as const

/**
 * Kills the server while its flows are published over HTTP and through the socket, at random moments
 * and within the transaction of a publication. For each publication, the version and its line of the
 * audit log are both there or both missing. For an answered one, both are there.
 */
export async function publish({ isLong, seed }: Torture): Promise<Ledger> {
  const count = kills[isLong ? 'long' : 'short']
  const random = new SeededRandom(`publish ${seed}`)
  await using place = new Workplace()
  const told: Publication[] = []
  const found: PublicationFaults = { lost: 0, unsaid: 0, unmade: 0, misnamed: 0, gaps: 0 }
  let within = 0
  let damaged = 0
  const all = await editedIn(place, ['Acme', 'Harbor'])
  for (let done = 0; done <= count; done++) {
    progress(`${done} of ${count} kills`)
    const way = ways[done % ways.length]!
    const armed = way.endsWith('@') ? `${way}${Math.ceil(random.between(1, 20))}` : way
    const server = await place.serve(['--threads', '2'], { CAIRN_FAILPOINTS: armed })
    using database = place.reading()
    const faults = faultsOfPublications(database, told)
    for (const name of Object.keys(found) as (keyof typeof found)[]) found[name] += faults[name]
    if (damageIn(database) !== null) damaged++
    if (done === count) {
      await server.end()
      break
    }
    const editors = new Editors(place, server, all, random, told)
    const ended = await Promise.race([
      server.child.exited,
      ...(armed.includes('exit') ? [] : [Bun.sleep(random.between(50, lifeMs))]),
    ])
    if (ended !== undefined) within++
    server.child.kill('SIGKILL')
    await server.child.exited
    await editors.stop()
  }
  const answered = told.filter(({ version }) => version !== null).length
  const entries: Entry[] = [
    { what: 'publications answered', value: answered, isGood: answered > count },
    { what: 'of these through the socket', value: ofSocket(told), isGood: ofSocket(told) > 0 },
    { what: 'publications without an answer', value: told.length - answered },
    { what: 'ends within a publication', value: within, isGood: within > 0 },
    ...Object.entries(publicationFaults).map(([name, what]) =>
      none(what, found[name as keyof PublicationFaults]),
    ),
    none('`pragma integrity_check` not ok', damaged),
  ]
  return { title: `Killed ${count} times while flows were published`, entries }
}

const ofSocket = (told: readonly Publication[]) =>
  told.filter(({ via, version }) => via === 'command line' && version !== null).length
