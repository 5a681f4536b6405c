import type { IdentityAnswer } from '../../../modules/organisations/schema.ts'
import { soonMs, useRead } from '../api/read.ts'
import { may } from '../api/session.ts'
import { type FlowList, flowsPath } from '../flows/flow-list.ts'
import { Badge } from '../parts/badge.tsx'
import { PageHead } from '../shell/page-head.tsx'
import { Reading } from '../shell/states.tsx'
import { installationWords as words } from '../words/installation.ts'
import { formatAge } from '../words/time.ts'
import { Facts } from './facts.tsx'
import { Findings } from './findings.tsx'
import { IdentityHours } from './identity-hours.tsx'
import { InstallCode } from './install-code.tsx'
import { Stages } from './stages.tsx'
import { type Installation, installPath, installStates, toneOfInstall } from './state.ts'

/** What pages need, how far the installation has come, and what is wrong. */
export default function InstallPage() {
  const install = useRead<Installation>(installPath, soonMs)
  const flows = useRead<FlowList>(flowsPath, soonMs)
  const identity = useRead<IdentityAnswer>(may('settings:write') ? '/manage/identity' : null)
  const state = install.data?.state
  const lastSeenAt = install.data?.lastSeenAt
  return (
    <>
      <PageHead
        title={words.title}
        beside={
          state && (
            <span class="badges">
              <Badge tone={toneOfInstall[state]}>{installStates[state]}</Badge>
              {lastSeenAt && <span class="hint">{words.lastSeen(formatAge(lastSeenAt))}</span>}
            </span>
          )
        }
      />
      <Reading of={install} lines={8}>
        {installation => (
          <>
            {installation.findings.length > 0 && <Findings findings={installation.findings} />}
            <div class="install-columns">
              <InstallCode of={installation} />
              <div>
                <Stages installation={installation} flows={flows.data?.flows ?? []} />
                {installation.findings.length === 0 && <Findings findings={[]} />}
                <Facts of={installation} identity={identity.data} />
              </div>
            </div>
            {identity.data && identity.data.mode !== 'off' && <IdentityHours of={identity.data} />}
          </>
        )}
      </Reading>
    </>
  )
}
