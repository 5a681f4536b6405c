import { afterAll, beforeAll } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Case, readContract } from '../contract/document.ts'
import { Player, playCases } from '../contract/player.ts'
import { representatives } from '../contract/representatives.ts'
import { onCluster, setStage } from '../contract/stage.ts'
import { builtBinary } from '../support/binary.ts'
import { Cluster, describe } from '../support/cluster.ts'
import { CommandLine } from '../support/command-line.ts'

/** A case of each route against three nodes behind a balancer: callers see one service. */

const whole = readContract(readFileSync(join(import.meta.dir, '../contract/contract.md'), 'utf8'))

/** Another node shows what pages did up to two seconds later, so a row that follows at once may not see it. */
const isTooSoon = ({ section, rows }: Case) => section === 'Snippet status' && rows.length > 1

const cases = representatives(whole).map(one => one.case)
const contract = { ...whole, cases: cases.filter(one => !isTooSoon(one)) }

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
