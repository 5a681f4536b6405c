import type { Server } from '../../../modules/operations/schema.ts'
import { useRead } from '../api/read.ts'
import { Badge } from '../parts/badge.tsx'
import { PageHead } from '../shell/page-head.tsx'
import { Reading } from '../shell/states.tsx'
import { serverWords as words } from '../words/server.ts'
import { formatAge, formatCount, formatSeconds } from '../words/time.ts'
import { Care } from './care.tsx'
import { DeadLetters } from './dead-letters.tsx'
import { Nodes } from './nodes.tsx'
import { Now } from './now.tsx'
import { Limits, Organisations, Refusals } from './traffic.tsx'

/** How often the page reads while it is visible. Figures per second then cover this time. */
const everyMs = 5_000

/** How the server is doing, for its operator. */
export default function ServerPage() {
  const server = useRead<Server>('/manage/server', everyMs)
  const { data } = server
  return (
    <>
      <PageHead
        title={words.title}
        beside={
          data && (
            <span class="badges">
              <Badge tone={data.notReady.length === 0 ? 'good' : 'bad'}>
                {data.notReady.length === 0 ? words.ready : words.notReady}
              </Badge>
              <Badge>{data.version}</Badge>
            </span>
          )
        }
      >
        {data && (
          <p class="hint">
            <code>{data.commit.slice(0, 12)}</code>, {words.since(formatAge(data.startedAt))}
          </p>
        )}
      </PageHead>
      <Reading of={server} lines={8}>
        {data => (
          <>
            {[...data.notReady, ...data.warnings].map(reason => (
              <p key={reason} class="problem">
                {reason}
              </p>
            ))}
            {data.limitsServer?.isAway && (
              <p class="problem">{words.limitsAway(formatCount(data.limitsServer.decidedAlone))}</p>
            )}
            <Now of={data} />
            <p class="footnote">{words.over(formatSeconds(data.overSeconds))}</p>
            {data.isShared && <Nodes everyMs={everyMs} />}
            <Organisations of={data} />
            <Refusals of={data} />
            <Limits of={data} />
            <Care of={data} />
            <DeadLetters />
          </>
        )}
      </Reading>
    </>
  )
}
