import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { explain } from '../api/explained.ts'
import type { Failure } from '../api/failure.ts'
import type { Read } from '../api/read.ts'
import { Button, LinkButton } from '../parts/button.tsx'
import { formatAge } from '../parts/format.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { FailureDetails } from '../parts/rejection.tsx'
import { addressOf, useFilters } from './address.ts'

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
    <section class="notice card" role={isAlert ? 'alert' : undefined}>
      <Icon name={icon} size={20} />
      <h2>{title}</h2>
      {children && <div class="notice-text soft">{children}</div>}
      {actions && <div class="actions">{actions}</div>}
    </section>
  )
}

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

export const Home = () => <LinkButton href={addressOf()}>Go to overview</LinkButton>

const limited = (seconds: number) =>
  `Your organisation reached its rate limit. Retrying in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`

function Limited({ failure }: { failure: Failure }) {
  return (
    <Notice icon="warning" title={explain(failure).title} isAlert>
      {limited(useSecondsUntil(failure.response.retryAt))}
    </Notice>
  )
}

/** The address has a filter that the server does not know. */
function UnknownFilter({ failure }: { failure: Failure }) {
  const { withFilters, filters } = useFilters()
  const none = Object.fromEntries(Object.keys(filters).map(name => [name, null]))
  return (
    <Notice
      icon="warning"
      title="Unknown filter"
      isAlert
      actions={<LinkButton href={withFilters(none)}>Clear filters</LinkButton>}
    >
      <p>The address of this page has a filter that does not exist.</p>
      <FailureDetails failure={failure} />
    </Notice>
  )
}

/** Says that there is nothing at an address. */
export const Missing = () => (
  <Notice title="Page not found" actions={<Home />}>
    It may have been renamed or deleted, or the address is mistyped.
  </Notice>
)

/** Says why there is nothing to show, and what to do about it. */
export function FailureNotice({ failure, again }: { failure: Failure; again(): void }) {
  const { status, isPassing } = failure
  if (status === 429) return <Limited failure={failure} />
  if (status === 422) return <UnknownFilter failure={failure} />
  if (status === 404) return <Missing />
  const { title, why } = explain(failure)
  return (
    <Notice
      icon={status === 403 ? 'key' : 'warning'}
      title={title}
      isAlert
      actions={
        status === 403 ? (
          <Home />
        ) : (
          <Button onClick={again}>{status === 412 ? 'Show current version' : 'Try again'}</Button>
        )
      }
    >
      <p>{isPassing ? 'Trying again every few seconds.' : why}</p>
      <FailureDetails failure={failure} />
    </Notice>
  )
}

/** Shown above data that could not be refreshed: says why, and how old it is. */
export function StaleNote({ failure, at, again }: { failure: Failure; at: number; again(): void }) {
  const seconds = useSecondsUntil(failure.response.retryAt)
  return (
    <div class="banner" role="status">
      <Icon name="warning" />
      <span>
        {failure.status === 429 ? limited(seconds) : `${explain(failure).title}.`} Showing data from{' '}
        {formatAge(at)}.
      </span>
      {failure.status !== 429 && (
        <Button look="quiet" onClick={again}>
          Try again
        </Button>
      )}
    </div>
  )
}

/** Shown while something is loading for the first time. */
export const Skeleton = ({ lines = 4 }: { lines?: number }) => (
  <div class="skeleton stack gap-3" role="status">
    <span class="unseen">Loading</span>
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
