import { soonMs, useRead } from '../api/read.ts'
import { type FlowList, flowsPath } from '../flows/flow-list.ts'
import { Badge } from '../parts/badge.tsx'
import { formatAge } from '../parts/format.ts'
import { Part } from '../parts/part.tsx'
import { PageHead } from '../shell/page-head.tsx'
import { Reading } from '../shell/states.tsx'
import { Findings } from './findings.tsx'
import { InstallCode } from './install-code.tsx'
import { type Installation, installPath, nameOfInstall, toneOfInstall } from './state.ts'
import { InstallationStatus } from './status.tsx'

/** The code for pages, whether it works, and what is wrong. */
export default function InstallPage() {
  const install = useRead<Installation>(installPath, soonMs)
  const flows = useRead<FlowList>(flowsPath, soonMs)
  const state = install.data?.state
  const lastSeenAt = install.data?.lastSeenAt
  return (
    <>
      <PageHead
        title="Installation"
        beside={
          state && (
            <span class="row gap-1">
              <Badge tone={toneOfInstall[state]}>{nameOfInstall[state]}</Badge>
              {lastSeenAt && <span class="hint">last seen {formatAge(lastSeenAt)}</span>}
            </span>
          )
        }
      />
      <Reading of={install} lines={8}>
        {installation => (
          <>
            {installation.findings.length > 0 && <Findings findings={installation.findings} />}
            <div class="install-columns">
              <Part title="Code">
                <InstallCode of={installation} />
              </Part>
              <div>
                <InstallationStatus of={installation} flows={flows.data?.flows ?? []} />
                {installation.findings.length === 0 && <Findings findings={[]} />}
              </div>
            </div>
          </>
        )}
      </Reading>
    </>
  )
}
