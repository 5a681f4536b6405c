import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Failure } from '../api/failure.ts'
import type { Read } from '../api/read.ts'
import { Button, LinkButton } from '../parts/button.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { shellWords } from '../words/shell.ts'
import { formatAge } from '../words/time.ts'
import { addressOf, useFilters } from './address.ts'

const words = shellWords.states

/** Shown in place of a page or a part of it: says what is the case, why, and what to do. */
export function Notice({
  icon = 'info',
  title,
  children,
  actions,
  isAlert = false,
}: {
  icon?: IconName
  title: string
  children?: ComponentChildren
  actions?: ComponentChildren
  isAlert?: boolean
}) {
  return (
    <section class="notice" role={isAlert ? 'alert' : undefined}>
      <Icon name={icon} size={20} />
      <h2>{title}</h2>
      {children && <div class="notice-text">{children}</div>}
      {actions && <div class="actions">{actions}</div>}
    </section>
  )
}

const RequestId = ({ failure }: { failure: Failure }) =>
  failure.told.requestId ? (
    <p class="request-id">
      {words.requestId} <code>{failure.told.requestId}</code>
    </p>
  ) : null

/** The seconds until a moment, counted down. */
function useSecondsUntil(at: number | undefined): number {
  const left = () => Math.max(0, Math.ceil(((at ?? 0) - Date.now()) / 1_000))
  const seconds = useSignal(left())
  useEffect(() => {
    seconds.value = left()
    const timer = setInterval(() => {
      seconds.value = left()
      if (seconds.value === 0) clearInterval(timer)
    }, 1_000)
    return () => clearInterval(timer)
  }, [at])
  return seconds.value
}

const Home = () => <LinkButton href={addressOf()}>{words.home}</LinkButton>

function Limited({ failure }: { failure: Failure }) {
  return (
    <Notice icon="warning" title={words.limited} isAlert>
      {words.limitedWhy(useSecondsUntil(failure.told.retryAt))}
    </Notice>
  )
}

function Wrong({ failure }: { failure: Failure }) {
  const { withFilters, filters } = useFilters()
  const none = Object.fromEntries(Object.keys(filters).map(name => [name, null]))
  return (
    <Notice
      icon="warning"
      title={words.wrong}
      isAlert
      actions={<LinkButton href={withFilters(none)}>{words.wrongReset}</LinkButton>}
    >
      <ul class="problems">
        {(failure.told.details ?? []).map(({ path, message }) => (
          <li key={path}>
            <code>{path.slice(1)}</code> {message}
          </li>
        ))}
      </ul>
    </Notice>
  )
}

/** Says that there is nothing at an address. */
export const Missing = () => (
  <Notice title={words.missing} actions={<Home />}>
    {words.missingWhy}
  </Notice>
)

/** Says why there is nothing to show, and what to do about it. */
export function FailureNotice({ failure, again }: { failure: Failure; again(): void }) {
  if (failure.status === 429) return <Limited failure={failure} />
  if (failure.status === 422) return <Wrong failure={failure} />
  if (failure.status === 404) return <Missing />
  if (failure.status === 403) {
    return (
      <Notice icon="key" title={words.forbidden} isAlert actions={<Home />}>
        {words.forbiddenWhy}
        <p>{failure.message}</p>
      </Notice>
    )
  }
  if (failure.status === 412) {
    const who = String(failure.told.body?.changedBy ?? words.changedBy)
    return (
      <Notice
        icon="warning"
        title={words.changed}
        isAlert
        actions={<Button onClick={again}>{words.changedShow}</Button>}
      >
        {words.changedWhy(who)}
      </Notice>
    )
  }
  return (
    <Notice
      icon="warning"
      title={words.failed}
      isAlert
      actions={<Button onClick={again}>{words.retry}</Button>}
    >
      {failure.isPassing ? words.trying : failure.message || words.failedWhy}
      <RequestId failure={failure} />
    </Notice>
  )
}

/** Shown above data that could not be refreshed: says why, and how old it is. */
export function StaleNote({ failure, at, again }: { failure: Failure; at: number; again(): void }) {
  const seconds = useSecondsUntil(failure.told.retryAt)
  const why = failure.status === 429 ? words.limitedWhy(seconds) : failure.message || words.away
  return (
    <div class="stale-note" role="status">
      <Icon name="warning" />
      <span>
        {why} {words.stale(formatAge(at))}
      </span>
      {failure.status !== 429 && (
        <Button look="quiet" onClick={again}>
          {words.retry}
        </Button>
      )}
    </div>
  )
}

/** Shown while something is loading for the first time. */
export const Skeleton = ({ lines = 4 }: { lines?: number }) => (
  <div class="skeleton" role="status">
    <span class="unseen">{shellWords.loading}</span>
    {Array.from({ length: lines }, (_, i) => (
      <span key={i} class="bone" />
    ))}
  </div>
)

/**
 * What was read, in every state that reading can be in: loading, failed with nothing to show, failed
 * with old data, showing the data of the previous address, and all well.
 *
 * A 401 shows nothing here, because the dialog to sign in is over the page.
 */
export function Reading<T>({
  of,
  lines,
  children,
}: {
  of: Read<T>
  /** The number of lines of the skeleton. */
  lines?: number
  children: (data: T) => ComponentChildren
}) {
  const { data, failure, at, isOld, again } = of
  const isSignedOut = failure?.status === 401
  if (data === null || (isOld && failure && !failure.isPassing && !isSignedOut)) {
    if (failure && !isSignedOut) return <FailureNotice failure={failure} again={again} />
    return <Skeleton lines={lines} />
  }
  return (
    <>
      {failure && !isSignedOut && at !== null && (
        <StaleNote failure={failure} at={at} again={again} />
      )}
      <div class={isOld ? 'old' : undefined} aria-busy={isOld}>
        {children(data)}
      </div>
    </>
  )
}
