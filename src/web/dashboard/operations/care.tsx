import type { Server } from '../../../modules/operations/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { manual } from '../api/base.ts'
import { Badge } from '../parts/badge.tsx'
import { Facts } from '../parts/facts.tsx'
import { Part } from '../parts/part.tsx'
import { serverWords as words } from '../words/server.ts'
import { formatAge, formatCount, formatSeconds } from '../words/time.ts'
import { formatBytes } from './amounts.ts'

function nextBackup({ nextAt, overdueSeconds }: Server['backups']) {
  if (overdueSeconds > 0)
    return <Badge tone="bad">{words.overdue(formatSeconds(overdueSeconds))}</Badge>
  return nextAt === null ? words.noneYet : momentHere(nextAt)
}

/** @param topic the topic of the manual that says how to set up backups */
const NoBackups = ({ why, topic }: { why: string; topic: string }) => (
  <Part title={words.backups}>
    <p>{why}</p>
    <p>
      <a href={manual(topic)}>{words.backupsManual}</a>
    </p>
  </Part>
)

function Backups({ of: backups }: { of: Server['backups'] }) {
  const { everySeconds, last, failures, isFailing } = backups
  const lastIs =
    last === null
      ? words.noneYet
      : words.lastIs(momentHere(last.at), formatAge(last.at), formatBytes(last.bytes))
  if (everySeconds === 0) {
    return <NoBackups why={words.never} topic="backup" />
  }
  return (
    <Part title={words.backups}>
      <Facts
        of={[
          [words.every, formatSeconds(everySeconds)],
          [words.last, lastIs],
          [words.next, nextBackup(backups)],
          [
            words.failures,
            <>
              {failures === 0 ? words.noFailures : formatCount(failures)}{' '}
              {isFailing && <Badge tone="bad">{words.failing}</Badge>}
            </>,
          ],
        ]}
      />
    </Part>
  )
}

/** The background work that takes care of the data. */
export function Care({ of: { backups, retention, isShared } }: { of: Server }) {
  const { days, deletedEvents, oldestEventAt } = retention
  return (
    <>
      {isShared ? (
        <NoBackups why={words.sharedBackups} topic="several-machines#back-up-and-restore" />
      ) : (
        <Backups of={backups} />
      )}
      <Part title={words.storage}>
        <Facts
          of={[
            [words.retention, words.retentionIs(days, formatCount(deletedEvents))],
            [words.oldest, oldestEventAt === null ? words.noOldest : momentHere(oldestEventAt)],
          ]}
        />
      </Part>
    </>
  )
}
