import type { VersionList } from '../../../modules/authoring/schema.ts'
import { useRead } from '../api/read.ts'
import { flowPath } from '../flows/definition.ts'
import { FlowFrame } from '../flows/flow-frame.tsx'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { Part } from '../parts/part.tsx'
import type { PageProps } from '../shell/routes.ts'
import { Reading } from '../shell/states.tsx'
import { Compare } from './compare.tsx'
import { DraftSection } from './draft-section.tsx'
import { Ledger } from './ledger.tsx'
import { Withdraw } from './withdraw.tsx'

function Versions({ flow }: { flow: AuthoredFlow }) {
  const list = useRead<VersionList>(flowPath(flow.key, '/versions'))
  const changing = { flow }
  return (
    <>
      <DraftSection {...changing} />
      <Reading of={list}>
        {({ versions }) => (
          <>
            <Part id="ledger" title="Published versions">
              {versions.length === 0 ? (
                <p class="hint">None yet. Each version that you publish is kept here.</p>
              ) : (
                <Ledger {...changing} versions={versions} />
              )}
            </Part>
            <Compare flow={flow} versions={versions.map(({ version }) => version)} />
          </>
        )}
      </Reading>
      <Withdraw {...changing} />
    </>
  )
}

/** The published versions and the waiting draft, with all that can be done: compare, publish, withdraw. */
export default function VersionsPage({ params }: PageProps) {
  return <FlowFrame flowKey={params.flow ?? ''}>{flow => <Versions flow={flow} />}</FlowFrame>
}
