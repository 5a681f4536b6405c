/**
 * The address of the dashboard. All of its files are in `…/dashboard/assets/`, whatever path a proxy
 * has put in front.
 */
const root = new URL('..', import.meta.url)

/** The path of the dashboard, without a trailing slash. */
export const base = root.pathname.replace(/\/$/, '')

/** The address of this server as this page knows it, without a trailing slash. */
export const server = new URL('..', root).href.replace(/\/$/, '')

/** The path of the API. */
export const api = new URL('../api/v1', root).pathname

/** The address of a topic of the manual, and of a part of it: `topic#part`. */
export function manual(topic: string): string {
  const { pathname, hash } = new URL(`../docs/${topic}`, root)
  return pathname + hash
}
