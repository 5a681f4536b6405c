import { expect } from 'bun:test'
import type { CommandLine } from '../support/command-line.ts'
import type { Contract, Row } from './document.ts'
import { type Answer, exchange, type Sent } from './exchange.ts'
import { Player } from './player.ts'
import type { Stage } from './stage.ts'

/** Requests to which a browser attaches the cookie of an owner who is signed in to the dashboard. */

/** What differs from answer to answer: headers, times, and when the next heartbeat is due. */
const varying = /^(date|x-request-id|x-ratelimit-remaining|x-ratelimit-reset|content-length|etag)$/
const moving = /"(?:nextHeartbeatSeconds|lastUsedAt)":[^,}]+|"\d{4}-\d\d-\d\dT[\d:.]+Z"/g

const seen = ({ status, headers, body }: Answer, { target }: Sent) => {
  return {
    target,
    status,
    headers: [...headers].filter(([name]) => !varying.test(name)),
    body: body.toString('latin1').replace(moving, '<moving>'),
  }
}

export class VisitorsPlayer extends Player {
  constructor(
    contract: Contract,
    stage: Stage,
    private readonly cookie: string,
  ) {
    super(contract, stage)
  }

  protected override async exchange(door: number | string, sent: Sent): Promise<Answer> {
    const attached = { ...sent, headers: [...sent.headers, ['Cookie', this.cookie] as const] }
    const answer = await exchange(door, attached)
    // The size and the free space of the disk change from one response to the next.
    const isSteady = !sent.target.startsWith('/api/v1/manage/server')
    if (sent.method === 'GET' && isSteady)
      expect(seen(answer, sent)).toEqual(seen(await exchange(door, sent), sent))
    return answer
  }
}

/** The same request without a credential. */
export const anonymous = (row: Row): Row => ({
  ...row,
  ...{ caller: 'nobody', times: 1, status: 401, headers: [], body: [], word: null },
})

/** Signs somebody in as an owner of Acme, and returns the cookie. */
export async function ownersCookie(place: CommandLine, { url }: { url: string }): Promise<string> {
  const link = ['dashboard', 'link', '--role', 'owner', '--org', 'acme']
  const redeemed = new URL((await place.json<{ url: string }>(link, { CAIRN_DATA: './data' })).url)
  const response = await fetch(`${url}/dashboard/session/redeem`, {
    method: 'POST',
    headers: {
      'sec-fetch-site': 'same-origin',
      'cairn-dashboard': '1',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ code: redeemed.hash.slice(1) }),
  })
  const [cookie] = /^(__Host-)?cairn=[^;]+/.exec(response.headers.get('set-cookie') ?? '') ?? []
  if (cookie === undefined) throw new Error(`Not signed in: ${response.status}`)
  return cookie
}
