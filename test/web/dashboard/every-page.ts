import { type PageRoute, routes } from '../../../src/web/dashboard/shell/routes.ts'

/** Every page of the dashboard, at an address at which it has something to show. */

/** What stands in an address in place of `:flow` and the like. */
const params: Readonly<Record<string, string>> = { flow: 'welcome', section: 'limits' }

const page = encodeURIComponent('https://app.example.com/projects')

/** What a page asks for only once it has a question. */
const questions: Readonly<Record<string, string>> = {
  people: '?user=person-0',
  explain: `?url=${page}&flow=welcome&user=person-0`,
}

export interface EveryPage {
  path: string
  needs: PageRoute['needs']
}

/** One for each line of the table of routes, so that a new page is among them. */
export const everyPage: readonly EveryPage[] = routes.map(({ path, needs }) => ({
  path: `/${path.replace(/:(\w+)/g, (_, name) => params[name] ?? name)}${questions[path] ?? ''}`,
  needs,
}))
