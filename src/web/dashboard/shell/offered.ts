import { may } from '../api/session.ts'
import { addressOf } from './address.ts'
import type { PageRoute } from './routes.ts'

/** Whether the signed-in person may open a page. */
export const isOffered = ({ needs }: PageRoute): boolean => !needs || may(needs)

/** The address of a page; of a flow's page, with the flow's key. */
export const addressOfPage = ({ path }: PageRoute, flowKey = ''): string =>
  addressOf(
    path
      .split('/')
      .filter(Boolean)
      .map(part => (part === ':flow' ? flowKey : part)),
  )
