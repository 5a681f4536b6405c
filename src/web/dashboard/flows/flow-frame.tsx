import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso'
import type { FlowSource, PromotedSource } from '../../../core/flow/flow.ts'
import { useRead } from '../api/read.ts'
import { may } from '../api/session.ts'
import { Badge } from '../parts/badge.tsx'
import { addressOf } from '../shell/address.ts'
import { addressOfPage, isOffered } from '../shell/offered.ts'
import { PageHead } from '../shell/page-head.tsx'
import { routes } from '../shell/routes.ts'
import { Missing, Reading } from '../shell/states.tsx'
import { type AuthoredFlow, type FlowList, flowsPath } from './flow-list.ts'
import { statusOf } from './status.ts'

const sourceOf = ({ repository, commit, path }: FlowSource) =>
  `Last pushed from ${repository} at ${commit.slice(0, 7)}${path === null ? '' : `, ${path}`}`

const promotionOf = ({ organisation, version }: PromotedSource) =>
  `Last promoted from ${organisation}, ${version === null ? 'a draft' : `version ${version}`}`

/** The tabs for the pages of a flow. */
function Tabs({ flowKey }: { flowKey: string }) {
  const { path } = useLocation()
  const tabs = routes.filter(
    route => route.isTab && isOffered(route) && (!route.tabFor || may(route.tabFor)),
  )
  if (tabs.length < 2) return null
  return (
    <nav class="tabs" aria-label="Pages of this flow">
      {tabs.map(route => {
        const address = addressOfPage(route, flowKey)
        return (
          <a key={route.path} href={address} aria-current={path === address ? 'page' : undefined}>
            {route.name}
          </a>
        )
      })}
    </nav>
  )
}

/** The head and the tabs that all pages of a flow have. The page itself is given the flow. */
export function FlowFrame({
  flowKey,
  actions,
  children,
}: {
  flowKey: string
  actions?: ComponentChildren
  children: (flow: AuthoredFlow) => ComponentChildren
}) {
  const list = useRead<FlowList>(flowsPath)
  const { path } = useLocation()
  const tab = routes.find(route => route.isTab && addressOfPage(route, flowKey) === path)
  const above = <a href={addressOf(['flows'])}>Flows</a>
  if (!list.data && list.failure) {
    return (
      <>
        <PageHead title={flowKey} above={above} />
        <Reading of={list}>{() => null}</Reading>
      </>
    )
  }
  return (
    <Reading of={list}>
      {({ flows }) => {
        const flow = flows.find(({ key }) => key === flowKey)
        if (!flow) {
          return (
            <>
              <PageHead title={flowKey} above={above} />
              <Missing />
            </>
          )
        }
        return (
          <>
            <PageHead
              title={flow.name}
              // The first tab is the flow itself, so the title names no part.
              part={tab?.path === 'flows/:flow' ? undefined : tab?.name}
              above={above}
              beside={
                <span class="row gap-1">
                  <Badge tone={statusOf(flow)[0]}>{statusOf(flow)[1]}</Badge>
                  {flow.version !== null && <Badge>v{flow.version}</Badge>}
                  {flow.isLocked && <Badge>Locked</Badge>}
                  {flow.hasDraft && flow.version !== null && (
                    <Badge tone="accent">Unpublished draft</Badge>
                  )}
                </span>
              }
              actions={actions}
            >
              {flow.source && <p class="hint">{sourceOf(flow.source)}</p>}
              {flow.promotedFrom && <p class="hint">{promotionOf(flow.promotedFrom)}</p>}
              <Tabs flowKey={flowKey} />
            </PageHead>
            {children(flow)}
          </>
        )
      }}
    </Reading>
  )
}
