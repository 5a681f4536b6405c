import { join } from 'node:path'
import {
  apiOf,
  type Server,
  tourFile,
  type Workplace,
  withTour,
} from '../../../test/support/binary.ts'

interface Flow {
  id: string
  steps: { id: string }[]
  checklist: { items: { id: string }[] }
}

export type Organisation = Awaited<ReturnType<typeof organisationIn>>

/** An organisation whose pages, back ends, analysts and author are all at work. */
export class Site {
  private constructor(
    readonly place: Workplace,
    readonly server: Server,
    readonly slug: string,
    /** The current one: it is rotated. */
    public snippetKey: string,
    private readonly token: string,
    readonly flow: Flow,
  ) {}

  /** @param server started in the workplace, where the organisation is already */
  static async open(
    place: Workplace,
    server: Server,
    { slug, snippetKey }: Organisation,
  ): Promise<Site> {
    const { token } = await place.json<{ token: string }>(['token', 'issue', '--org', slug])
    const answer = await apiOf(server, snippetKey)('GET', '/flows')
    const { flows } = (await answer.json()) as { flows: Flow[] }
    return new Site(place, server, slug, snippetKey, token, flows[0]!)
  }

  /** As a page or a back end. */
  ask(method: string, path: string, body?: unknown): Promise<Response> {
    return apiOf(this.server, this.snippetKey)(method, path, body)
  }

  analyse(path: string): Promise<Response> {
    return apiOf(this.server, this.token)('GET', `/flows/${this.flow.id}/${path}`)
  }

  /** How many runs analysts see that were completed. */
  async completions(): Promise<number> {
    const answer = await (await this.analyse('analytics')).json()
    return (answer as { totals: { completions: number } }).totals.completions
  }

  /** Another version of the flow. */
  async publish(title: string): Promise<void> {
    const text = tourFile.replace('title: Hello', `title: ${title}`)
    await Bun.write(join(this.place.folder, 'next.yaml'), text)
    await this.place.json(['flows', 'push', 'next.yaml', '--publish', '--org', this.slug])
  }

  async rotateKey(): Promise<void> {
    const rotated = ['key', 'rotate', '--org', this.slug]
    const { snippetKey } = await this.place.json<{ snippetKey: string }>(rotated)
    this.snippetKey = snippetKey
  }
}

/** An organisation that may send as much as it can. */
export async function organisationIn(place: Workplace, name: string) {
  const organisation = await withTour(place, name)
  const buckets = [
    'events',
    'flows',
    'health',
    'fingerprint',
    'heartbeat',
    'status',
    'analytics',
    'export',
  ]
  const limits = buckets.flatMap(bucket => [`--${bucket}`, '1000000'])
  await place.json(['org', 'limits', organisation.slug, ...limits])
  return organisation
}
