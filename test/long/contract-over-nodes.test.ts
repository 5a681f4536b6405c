import { afterAll, beforeAll } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Row, readContract } from '../contract/document.ts'
import { Player, playCases } from '../contract/player.ts'
import { onCluster, setStage } from '../contract/stage.ts'
import { builtBinary } from '../support/binary.ts'
import { Cluster, describe } from '../support/cluster.ts'
import { CommandLine } from '../support/command-line.ts'

/** Every row of contract.md against three nodes behind a balancer: callers see one service. */

const whole = readContract(readFileSync(join(import.meta.dir, '../contract/contract.md'), 'utf8'))

/** HAProxy by itself refuses an address with characters beyond ASCII, which browsers never send. */
const isBalancers = ({ target }: Row) => /[^ -~]/.test(target)

/** What people report again after their erasure is remembered by each node only for itself. */
const isOfOneNode = (section: string, rows: readonly unknown[]) =>
  section === 'People who were erased' && rows.length > 1

/** Another node shows what pages did up to two seconds later, so a row that follows at once may not see it. */
const isTooSoon = (section: string, rows: readonly unknown[]) =>
  section === 'Snippet status' && rows.length > 1

/** PostgreSQL has tools of its own for this, so the reason for the refusal is another. */
const isOfSqlite = ({ target }: Row) => target === '/manage/compact'

const cases = whole.cases.filter(
  ({ section, rows }) =>
    !isOfOneNode(section, rows) &&
    !isTooSoon(section, rows) &&
    !rows.some(row => isBalancers(row) || isOfSqlite(row)),
)
const contract = { ...whole, cases }

describe('three nodes', () => {
  let place: CommandLine
  let cluster: Cluster
  let player: Player
  beforeAll(async () => {
    place = new CommandLine()
    cluster = await Cluster.open({ program: await builtBinary() })
    player = new Player(contract, await setStage(place, onCluster(cluster)))
  }, 300_000)
  afterAll(async () => {
    await cluster?.close()
    await place?.close()
  }, 300_000)

  // A rebuild asks the database for each of a thousand flows.
  playCases(contract, () => player, 120_000)
})
