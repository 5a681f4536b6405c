import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandLine } from '../support/command-line.ts'
import { readContract } from './document.ts'
import { type Answer, exchange, type Sent } from './exchange.ts'
import { Player, playCases } from './player.ts'
import { type Answering, type Holder, plenty, setStage } from './stage.ts'

/**
 * Every row of contract.md once more, with the cookie of an owner who is signed in to the dashboard. A
 * browser attaches it of its own accord to whatever any page sends to Cairn. No answer may differ.
 */

const contract = readContract(readFileSync(join(import.meta.dir, 'contract.md'), 'utf8'))

/** Headers that differ from answer to answer. */
const varying = ['date', 'x-request-id', 'x-ratelimit-remaining', 'x-ratelimit-reset']
const times = /"\d{4}-\d\d-\d\dT[\d:.]+Z"/g
/** The heartbeats of tabs are spread over time, and the use of a token is noted a moment later. */
const moving = /"(nextHeartbeatSeconds|lastUsedAt)":[^,}]+/g
const isMoving = /\/heartbeat|\/manage\/tokens/

/** The server's own figures, because the two requests themselves change them. Their names stay. */
const isOfServer = /\/manage\/server$/
const figures = /(?<=":)(?:-?\d[\d.e+-]*|null)|\{"status":[^}]*\},?/g

/** @param target what was asked for */
const seen = ({ status, headers, body }: Answer, target: string) => ({
  target,
  status,
  headers: [...headers].filter(
    ([name]) =>
      !varying.includes(name) &&
      !(name === 'content-length' && (isMoving.test(target) || isOfServer.test(target))),
  ),
  body: body
    .toString('latin1')
    .replace(moving, '<moving>')
    .replace(times, '<time>')
    .replace(figures, figure => (isOfServer.test(target) ? '<figure>' : figure)),
})

class VisitorsPlayer extends Player {
  /** How many answers were compared, byte for byte, with those without a cookie. */
  compared = 0
  cookies = new Map<Answering, string>()

  protected override async exchange(
    door: number | string,
    sent: Sent,
    to: { server: Answering; holder: Holder | null },
  ): Promise<Answer> {
    const cookie = `cairn=${this.cookies.get(to.server)}`
    const attached = { ...sent, headers: [...sent.headers, ['Cookie', cookie] as const] }
    const answer = await exchange(door, attached)
    // By a second request, a caller with a limit would reach it before the row says so.
    const isCounted = to.holder !== null && to.holder.limit !== plenty
    const isRead = ['GET', 'HEAD', 'OPTIONS'].includes(sent.method)
    if (isCounted || !(isRead || answer.status === 401)) return answer
    this.compared++
    const without = await exchange(door, sent)
    expect(seen(answer, sent.target)).toEqual(seen(without, sent.target))
    return answer
  }
}

const place = new CommandLine()
let player: VisitorsPlayer

/** Signs somebody in as an owner of an organisation. */
async function cookieAt(server: Answering, organisation: string, data: string): Promise<string> {
  const link = ['dashboard', 'link', '--role', 'owner', '--org', organisation]
  const { url } = await place.json<{ url: string }>(link, { CAIRN_DATA: data })
  const response = await fetch(`${server.url}/dashboard/session/redeem`, {
    method: 'POST',
    headers: {
      'sec-fetch-site': 'same-origin',
      'cairn-dashboard': '1',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ code: new URL(url).hash.slice(1) }),
  })
  const [, value] = /^cairn=([^;]+)/.exec(response.headers.get('set-cookie') ?? '') ?? []
  if (value === undefined) throw new Error(`Not signed in: ${response.status}`)
  return value
}

beforeAll(async () => {
  const stage = await setStage(place)
  player = new VisitorsPlayer(contract, stage)
  player.cookies.set(stage.server, await cookieAt(stage.server, 'acme', './data'))
  const narrow = [...stage.holders.values()].find(({ server }) => server !== stage.server)!.server
  player.cookies.set(narrow, await cookieAt(narrow, 'narrow', './narrow'))
}, 300_000)
afterAll(() => place.close())

playCases(contract, () => player)

test('most of them were compared with the same request without a cookie', () => {
  expect(player.compared).toBeGreaterThan(1_000)
})
