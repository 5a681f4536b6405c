import type { Tenant } from './history.ts'

/** The answer to an accepted batch. */
export interface Answer {
  accepted: number
  duplicates: number
  rejected: number
}

const connections = 64

/**
 * Posts batches of events, many at a time, until there is none left or the program is gone.
 */
export async function send(
  { url }: { url: string },
  tenant: Tenant,
  bodies: Iterator<string>,
  seen: (answer: Answer, body: string) => void,
): Promise<void> {
  const headers = {
    Authorization: `Bearer ${tenant.snippetKey}`,
    'Content-Type': 'application/json',
  }
  const post = async () => {
    for (let next = bodies.next(); !next.done; next = bodies.next()) {
      const body = next.value
      const response = await fetch(`${url}/api/v1/events`, {
        method: 'POST',
        headers,
        body,
      })
      if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`)
      seen((await response.json()) as Answer, body)
    }
  }
  await Promise.all(Array.from({ length: connections }, post))
}
