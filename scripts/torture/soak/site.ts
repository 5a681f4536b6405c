import { join } from 'node:path'
import {
  apiOf,
  firstFlowOf,
  type ListedFlow,
  type Organisation,
  type Server,
  sessionToken,
  tourFile,
  type Workplace,
} from '../../support/binary.ts'

/** An organisation whose pages, back ends, analysts and author are all at work. */
export class Site {
  private constructor(
    readonly place: Workplace,
    readonly server: Server,
    readonly slug: string,
    /** The current one, because it is rotated. */
    public snippetKey: string,
    private readonly token: string,
    readonly flow: ListedFlow,
  ) {}

  /** @param server one that was started in the workplace, where the organisation already exists */
  static async open(
    place: Workplace,
    server: Server,
    { slug, snippetKey }: Organisation,
  ): Promise<Site> {
    const token = await sessionToken(place, slug)
    const flow = await firstFlowOf(apiOf(server, snippetKey))
    return new Site(place, server, slug, snippetKey, token, flow)
  }

  /** Asks as a page or a back end does. */
  ask(method: string, path: string, body?: unknown): Promise<Response> {
    return apiOf(this.server, this.snippetKey)(method, path, body)
  }

  analyse(path: string): Promise<Response> {
    return apiOf(this.server, this.token)('GET', `/flows/${this.flow.id}/${path}`)
  }

  /** How many completed runs analysts see. */
  async completions(): Promise<number> {
    const answer = await (await this.analyse('analytics')).json()
    return (answer as { totals: { completions: number } }).totals.completions
  }

  /** Publishes another version of the flow. */
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
