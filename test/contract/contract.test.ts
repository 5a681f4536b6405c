import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandLine } from '../support/command-line.ts'
import { Description, type Document } from '../support/described.ts'
import { type Row, readContract } from './document.ts'
import { routeOf } from './every-answer.ts'
import { missingRows } from './management-rows.ts'
import { Player, playCases } from './player.ts'
import { requestOf } from './request.ts'
import { type Stage, setStage } from './stage.ts'

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
    '%s has a row for each status that it can answer, and none for another',
    (_, route) => {
      const ofRoute = rows.filter(row => isOfRoute(row) && routes.get(row) === route)
      const answered = new Set(ofRoute.map(({ status }) => status))
      expect([...answered].sort()).toEqual([...route.answers].sort())
    },
  )

  test('has rows of every kind for each management route that the API describes', async () => {
    const response = await fetch(`${stage.server.url}/api/v1/openapi.json`)
    const description = new Description((await response.json()) as Document)
    const missing = description.managing.flatMap(({ method, path, operation }) => {
      const route = `${method} /api/v1${path}`
      const ofPath = rows.filter(row => routes.get(row)?.path === `/api/v1${path}`)
      const ofRoute = ofPath.filter(row => row.method === method && row.status !== 405)
      const missing = missingRows(operation, ofRoute, schema => description.resolved(schema))
      if (!ofPath.some(({ status }) => status === 405)) missing.push('a wrong method')
      return missing.map(what => `${route}: ${what}`)
    })
    expect(missing).toEqual([])
  })

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
