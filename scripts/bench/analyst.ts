import { SignJWT } from 'jose'
import { type Program, sessionSecret } from './programs.ts'
import type { Tenant } from './seed.ts'

/** Asks for analytics as an analyst does, with a token such as an identity provider makes. */
export class Analyst {
  private constructor(
    private readonly program: Program,
    private readonly tenant: Tenant,
    private readonly token: string,
  ) {}

  static async of(program: Program, tenant: Tenant): Promise<Analyst> {
    const token = await new SignJWT({ org: tenant.id })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime('2h')
      .sign(new TextEncoder().encode(sessionSecret))
    return new Analyst(program, tenant, token)
  }

  /** The answer to one of the flow's analytics routes: `analytics`, or `analytics/export.csv`. */
  async ask(route: string, query: Record<string, string> = {}): Promise<Response> {
    const path = `/api/v1/flows/${this.tenant.flowId}/${route}?${new URLSearchParams(query)}`
    const answer = await fetch(`${this.program.url}${path}`, {
      headers: { Authorization: `Bearer ${this.token}` },
    })
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer
  }

  /** How many of the flow's runs there are. */
  async starts(query: Record<string, string> = {}): Promise<number> {
    const answer = await this.ask('analytics', query)
    return ((await answer.json()) as { totals: { starts: number } }).totals.starts
  }
}
