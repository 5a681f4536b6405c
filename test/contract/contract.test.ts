import { afterAll, beforeAll, describe, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandLine } from '../support/command-line.ts'
import { readContract } from './document.ts'
import { Player, playCases } from './player.ts'
import { representatives } from './representatives.ts'
import { type Stage, setStage } from './stage.ts'
import { anonymous, ownersCookie, VisitorsPlayer } from './visitors.ts'

/** Runs every row of contract.md against the compiled binary. */

const contract = readContract(readFileSync(join(import.meta.dir, 'contract.md'), 'utf8'))

const place = new CommandLine()
let stage: Stage
let player: Player
beforeAll(async () => {
  stage = await setStage(place)
  player = new Player(contract, stage)
}, 300_000)
afterAll(() => place.close())

playCases(contract, () => player)

/** A browser attaches the cookie of its own accord to whatever any page sends to Cairn. */
describe("with the cookie of the dashboard's owner", () => {
  let visitor: VisitorsPlayer
  beforeAll(async () => {
    visitor = new VisitorsPlayer(contract, stage, await ownersCookie(place, stage.server))
  })

  const ofRoutes = representatives(contract)

  test.each(ofRoutes.map(one => [one.name, one.case.rows[0]!] as const))(
    '%s: the cookie by itself is 401',
    async (_, row) => {
      await visitor.play(anonymous(row), 'nobody', [])
    },
  )

  test.each(
    ofRoutes
      .filter(({ route }) => route.method === 'GET')
      .map(one => [one.name, one.case.rows[0]!] as const),
  )('%s: the cookie changes nothing beside a credential', async (_, row) => {
    await visitor.play({ ...row, headers: [], body: [], word: null }, 'visitor', [])
  })
})
