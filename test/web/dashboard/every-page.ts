import { type PageRoute, routes } from '../../../src/web/dashboard/shell/routes.ts'

/** Every page of the dashboard, at an address at which it has something to show. */

/** What replaces `:flow` and the like in an address. */
const params: Readonly<Record<string, string>> = { flow: 'welcome', section: 'limits' }

const page = encodeURIComponent('https://app.example.com/projects')

/** Queries for pages that load nothing until they are asked a question. */
const questions: Readonly<Record<string, string>> = {
  people: '?user=person-0',
  explain: `?url=${page}&flow=welcome&user=person-0`,
}

export interface EveryPage {
  path: string
  needs: PageRoute['needs']
}

/** One for each row of the table of routes, so that a new page is included. */
export const everyPage: readonly EveryPage[] = routes.map(({ path, needs }) => ({
  path: `/${path.replace(/:(\w+)/g, (_, name) => params[name] ?? name)}${questions[path] ?? ''}`,
  needs,
}))
