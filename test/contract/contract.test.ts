import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandLine } from '../support/command-line.ts'
import { type Row, readContract } from './document.ts'
import { routeOf } from './every-answer.ts'
import { Player, playCases } from './player.ts'
import { representatives } from './representatives.ts'
import { requestOf } from './request.ts'
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
      await visitor.play(anonymous(row), 'nobody', null)
    },
  )

  test.each(
    ofRoutes
      .filter(({ route }) => route.method === 'GET')
      .map(one => [one.name, one.case.rows[0]!] as const),
  )('%s: the cookie changes nothing beside a credential', async (_, row) => {
    await visitor.play({ ...row, headers: [], body: [], word: null }, 'visitor', null)
  })
})

describe('the document', () => {
  const rows = contract.cases.flatMap(one => one.rows)
  const routes = new Map(
    rows.map(row => {
      const sent = requestOf({ ...row, input: [] }, [], new Map(), () => 'x')
      return [row, routeOf(sent, contract.routes)]
    }),
  )
  const isOfRoute = ({ method, status }: Row) =>
    method !== 'OPTIONS' && status !== 405 && status !== 414 && status < 500

  test.each(contract.routes.map(route => [`${route.method} ${route.path}`, route] as const))(
    '%s has rows, and none with a status that the route does not list',
    (_, route) => {
      const ofRoute = rows.filter(row => isOfRoute(row) && routes.get(row) === route)
      expect(ofRoute).not.toEqual([])
      const strange = ofRoute.filter(({ status }) => !route.answers.includes(status))
      expect(strange.map(({ line, status }) => ({ line, status }))).toEqual([])
    },
  )

  test('has a row for each caller and for each error', () => {
    const callers = new Set(rows.map(({ caller }) => caller))
    expect([...contract.callers.keys()].filter(caller => !callers.has(caller))).toEqual([])
    const codes = new Set(rows.map(({ word }) => word))
    const statuses = new Set(rows.map(({ status }) => status))
    const unused = [...contract.errors, ...contract.managementErrors].filter(
      ([code, { status }]) => !(status === 404 ? codes.has(code) : statuses.has(status)),
    )
    expect(unused).toEqual([])
  })
})
