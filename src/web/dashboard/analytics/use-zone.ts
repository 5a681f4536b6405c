import { useEffect } from 'preact/hooks'
import { useFilters } from '../shell/address.ts'
import { defaultZone } from './zone.ts'

/**
 * The time zone of the page's days. The address names it from the first visit on, so that a link sent
 * to a colleague means the same days there. The address has a range only if a person has chosen one.
 * Otherwise the range is the last days at the time when the link is opened.
 */
export function useZone(): string {
  const { filters, setFilters } = useFilters()
  useEffect(() => {
    if (filters.tz === undefined) setFilters({ tz: defaultZone() }, { replace: true })
  }, [filters.tz])
  return filters.tz ?? defaultZone()
}
