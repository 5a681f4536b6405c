import type { ComponentType } from 'preact'
import type { Scope } from '../api/session.ts'
import type { IconName } from '../parts/icon.tsx'

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
  /**
   * Given if the page is in the navigation; `g` and this letter lead there. There is room
   * before the first page that is set apart: what belongs to the set-up, not to the work of each day.
   */
  nav?: { icon: IconName; letter?: string; isApart?: boolean }
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
    name: 'Flows',
    nav: { icon: 'flows', letter: 'f' },
    load: () => import('../flows/flows-page.tsx'),
  },
  {
    path: 'flows/new',
    name: 'New flow',
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
    name: 'Results',
    isTab: true,
    load: () => import('../analytics/results-page.tsx'),
  },
  {
    path: 'flows/:flow/runs',
    name: 'Runs',
    isTab: true,
    load: () => import('../runs/runs-page.tsx'),
  },
  {
    path: 'flows/:flow/health',
    name: 'Health',
    isTab: true,
    load: () => import('../steps/health-page.tsx'),
  },
  {
    path: 'flows/:flow/edit',
    name: 'Edit',
    isTab: true,
    tabFor: 'flows:write',
    load: () => import('../authoring/editor/edit-page.tsx'),
  },
  {
    path: 'flows/:flow/versions',
    name: 'Versions',
    isTab: true,
    load: () => import('../authoring/versions-page.tsx'),
  },
  {
    path: 'staging',
    name: 'Staging',
    load: () => import('../environments/staging-page.tsx'),
  },
  {
    path: 'people',
    name: 'People',
    nav: { icon: 'person', letter: 'p' },
    needs: 'people:read',
    load: () => import('../people/person-page.tsx'),
  },
  {
    path: 'explain',
    name: 'Troubleshoot',
    nav: { icon: 'explain', letter: 't' },
    load: () => import('../flows/explain-page.tsx'),
  },
  {
    path: 'activity',
    name: 'Live events',
    nav: { icon: 'activity', letter: 'l' },
    needs: 'analytics:read',
    load: () => import('../events/activity-page.tsx'),
  },
  {
    path: 'install',
    name: 'Installation',
    nav: { isApart: true, icon: 'install', letter: 'i' },
    load: () => import('../installation/install-page.tsx'),
  },
  {
    path: 'settings',
    name: 'Settings',
    nav: { icon: 'settings', letter: 's' },
    needs: 'settings:write',
    load: () => import('../organisations/settings-page.tsx'),
  },
  {
    path: 'settings/:section',
    name: 'Settings',
    needs: 'settings:write',
    load: () => import('../organisations/settings-page.tsx'),
  },
  {
    path: 'server',
    name: 'Server',
    nav: { icon: 'server' },
    needs: 'operator',
    load: () => import('../operations/server-page.tsx'),
  },
]
