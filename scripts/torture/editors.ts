import type { Database } from 'bun:sqlite'
import type { SeededRandom } from '../../src/cli/demo/random.ts'
import { socketFile } from '../../src/runtime/lock.ts'
import type { Server, Workplace } from '../support/binary.ts'

/** An organisation whose flows are published all the time, and a token that may publish them. */
export interface Edited {
  id: string
  slug: string
  token: string
}

/** A publication. Each has its own text, which is the name of its flow and its note. */
export interface Publication {
  organisation: string
  key: string
  text: string
  via: 'token' | 'command line'
  /** The version in the answer; null if there was no answer. */
  version: number | null
}

/** Makes organisations to be edited. */
export async function editedIn(place: Workplace, names: readonly string[]): Promise<Edited[]> {
  const all: Edited[] = []
  for (const name of names) {
    const { id, slug } = await place.json<{ id: string; slug: string }>(['org', 'create', name])
    // Practically no limit, because a load is not about limits.
    await place.json(['org', 'limits', slug, '--manage', '1000000'])
    const scopes = ['flows:read', 'flows:write', 'flows:publish']
    const create = ['token', 'create', 'CI', '--org', slug, '--scope', ...scopes]
    const { token } = await place.json<{ token: string }>(create)
    all.push({ id, slug, token })
  }
  return all
}

const keys = ['a', 'b', 'c']

/** How many flows a push publishes at most. */
const mostAtOnce = 3

/** Editors who publish one thing after the other until they are stopped or the server is gone. */
export class Editors {
  private isStopped = false
  private readonly work: Promise<void>[]
  private static made = 0

  /** @param told takes what was sent and what was answered */
  constructor(
    place: Workplace,
    server: Server,
    all: readonly Edited[],
    random: SeededRandom,
    private readonly told: Publication[],
  ) {
    const unix = socketFile(place.dataDir)
    this.work = all.flatMap(({ id, slug, token }) => [
      this.edit(slug, 'token', random, `${server.url}`, {
        headers: { authorization: `Bearer ${token}` },
      }),
      this.edit(slug, 'command line', random, 'http://cairn', {
        unix,
        headers: { 'cairn-operator': 'kit', 'cairn-organisation': id },
      }),
    ])
  }

  async stop(): Promise<void> {
    this.isStopped = true
    await Promise.all(this.work)
  }

  private async edit(
    organisation: string,
    via: Publication['via'],
    random: SeededRandom,
    origin: string,
    { headers, ...init }: { headers: Record<string, string>; unix?: string },
  ): Promise<void> {
    while (!this.isStopped) {
      const count = random.chance(0.3) ? mostAtOnce : 1
      const first = Math.floor(random.between(0, keys.length))
      const text = `Publication ${++Editors.made}`
      const chosen = Array.from({ length: count }, (_, i) => keys[(first + i) % keys.length]!)
      const sent = chosen.map(
        (key): Publication => ({
          organisation,
          key,
          text,
          via,
          version: null,
        }),
      )
      this.told.push(...sent)
      const steps = [{ key: 'only', title: text }]
      const body = {
        flows: chosen.map(key => ({ key, name: text, steps })),
        publish: true,
        note: text,
      }
      try {
        const response = await fetch(`${origin}/api/v1/manage/push`, {
          ...init,
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        } as RequestInit)
        if (response.status !== 200) continue
        const { flows } = (await response.json()) as { flows: { key: string; version: number }[] }
        for (const one of sent) one.version = flows.find(({ key }) => key === one.key)!.version
      } catch {
        // The server was killed: what had been sent may or may not be there.
        if (!this.isStopped) await Bun.sleep(5)
      }
    }
  }
}

/** What is wrong between publications, versions and the audit log. */
export const publicationFaults = {
  lost: 'answered publications that are not there as they were told',
  unsaid: 'versions without a line of the audit log, or with two',
  unmade: 'lines of the audit log without a version',
  misnamed: 'lines that name another way, flow or request than the publication had',
  gaps: 'flows whose versions are not 1, 2, 3, …',
} as const

export type PublicationFaults = Record<keyof typeof publicationFaults, number>

interface Stored {
  slug: string
  key: string
  version: number
  text: string
}

interface Line {
  slug: string
  key: string
  via: string
  request: string | null
  version: number
  text: string
}

/** Compares what was answered, the stored versions and the audit log with each other. */
export function faultsOfPublications(
  database: Database,
  told: readonly Publication[],
): PublicationFaults {
  const versions = database
    .query<Stored, []>(
      `select slug, flows.key, version, body ->> 'name' as text
      from flow_versions join flows on flows.id = flow_id join organisations on organisations.id = flows.org_id
      order by slug, flows.key, version`,
    )
    .all()
  const lines = database
    .query<Line, []>(
      `select slug, subject as key, via, request_id as request, after ->> 'version' as version, note as text
      from audit_log join organisations on organisations.id = org_id
      where action like 'flow.%' and coalesce(before ->> 'version', 0) < (after ->> 'version')`,
    )
    .all()
  const nameOf = ({ slug, key, version, text }: Stored) => `${slug}/${key} ${version} ${text}`
  const stored = new Set(versions.map(nameOf))
  const audited = Map.groupBy(lines, nameOf)
  const sent = new Map(told.map(one => [`${one.organisation}/${one.key} ${one.text}`, one]))
  const isLost = ({ organisation: slug, key, version, text }: Publication) => {
    if (version === null) return false
    const name = nameOf({ slug, key, version, text })
    return !stored.has(name) || !audited.has(name)
  }
  const isMisnamed = ({ slug, key, text, via, request }: Line) =>
    sent.get(`${slug}/${key} ${text}`)?.via !== via || request === null
  const ofFlow = Map.groupBy(versions, ({ slug, key }) => `${slug}/${key}`)
  return {
    lost: told.filter(isLost).length,
    unsaid: versions.filter(version => audited.get(nameOf(version))?.length !== 1).length,
    unmade: lines.filter(line => !stored.has(nameOf(line))).length,
    misnamed: lines.filter(isMisnamed).length,
    gaps: [...ofFlow.values()].filter(all => all.some(({ version }, i) => version !== i + 1))
      .length,
  }
}
