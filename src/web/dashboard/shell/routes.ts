import type { ComponentType } from 'preact'
import type { Scope } from '../api/session.ts'
import type { IconName } from '../parts/icon.tsx'
import { flowWords } from '../words/flows.ts'
import { shellWords } from '../words/shell.ts'

/** The parameters in the address: `flow` on the pages of a flow. */
export interface PageProps {
  params: Readonly<Record<string, string>>
}

export interface PageRoute {
  /** The path below the organisation, with `:flow` for a flow's key. */
  path: string
  /** The name of the page in navigation, jump list and tabs. */
  name: string
  load(): Promise<{ default: ComponentType<PageProps> }>
  /** Given if the page is in the navigation; `g` and this letter lead there. */
  nav?: { icon: IconName; letter?: string }
  /** Whether the page is among the tabs of a flow. */
  isTab?: boolean
  /** People without it are not offered the page. */
  needs?: Scope | 'operator'
  /** People without it are not offered the page among the tabs, but may still open it. */
  tabFor?: Scope
}

/** All pages, in the order of navigation and tabs. Each is one entry here, and loaded when it is opened. */
export const routes: readonly PageRoute[] = [
  {
    path: '',
    name: 'Overview',
    nav: { icon: 'home', letter: 'h' },
    load: () => import('../overview/overview-page.tsx'),
  },
  {
    path: 'flows',
    name: flowWords.title,
    nav: { icon: 'flows', letter: 'f' },
    load: () => import('../flows/flows-page.tsx'),
  },
  {
    path: 'flows/new',
    name: flowWords.newFlow,
    needs: 'flows:write',
    load: () => import('../templates/new-flow-page.tsx'),
  },
  {
    path: 'flows/new/blank',
    name: 'Empty flow',
    needs: 'flows:write',
    load: () => import('../authoring/editor/new-page.tsx'),
  },
  {
    path: 'flows/:flow',
    name: flowWords.results,
    isTab: true,
    load: () => import('../analytics/results-page.tsx'),
  },
  {
    path: 'flows/:flow/health',
    name: flowWords.pages.health,
    isTab: true,
    load: () => import('../steps/health-page.tsx'),
  },
  {
    path: 'flows/:flow/edit',
    name: flowWords.pages.edit,
    isTab: true,
    tabFor: 'flows:write',
    load: () => import('../authoring/editor/edit-page.tsx'),
  },
  {
    path: 'flows/:flow/versions',
    name: flowWords.pages.versions,
    isTab: true,
    load: () => import('../authoring/versions-page.tsx'),
  },
  {
    path: 'flows/:flow/runs',
    name: flowWords.pages.runs,
    isTab: true,
    load: () => import('../runs/runs-page.tsx'),
  },
  {
    path: 'staging',
    name: 'Staging',
    load: () => import('../environments/staging-page.tsx'),
  },
  {
    path: 'people',
    name: shellWords.pages.people,
    nav: { icon: 'person', letter: 'p' },
    needs: 'people:read',
    load: () => import('../people/person-page.tsx'),
  },
  {
    path: 'explain',
    name: shellWords.pages.explain,
    nav: { icon: 'explain', letter: 'e' },
    load: () => import('../flows/explain-page.tsx'),
  },
  {
    path: 'install',
    name: shellWords.pages.install,
    nav: { icon: 'install', letter: 'i' },
    load: () => import('../installation/install-page.tsx'),
  },
  {
    path: 'activity',
    name: shellWords.pages.activity,
    nav: { icon: 'activity', letter: 'l' },
    needs: 'analytics:read',
    load: () => import('../events/activity-page.tsx'),
  },
  {
    path: 'settings',
    name: shellWords.pages.settings,
    nav: { icon: 'settings', letter: 's' },
    needs: 'settings:write',
    load: () => import('../organisations/settings-page.tsx'),
  },
  {
    path: 'settings/:section',
    name: shellWords.pages.settings,
    needs: 'settings:write',
    load: () => import('../organisations/settings-page.tsx'),
  },
  {
    path: 'server',
    name: shellWords.pages.server,
    nav: { icon: 'server' },
    needs: 'operator',
    load: () => import('../operations/server-page.tsx'),
  },
]
