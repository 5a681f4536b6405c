import { useEffect } from 'preact/hooks'
import { useFilters } from '../shell/address.ts'
import { usualZone } from './zone.ts'

/**
 * The zone of the page's days: the address names it, from the first look on, so that a link that is
 * sent to a colleague means the same days there. A range stands in the address only where a person
 * has chosen one; else it is the last days, whenever the link is followed.
 */
export function useZone(): string {
  const { filters, setFilters } = useFilters()
  useEffect(() => {
    if (filters.tz === undefined) setFilters({ tz: usualZone() }, { replace: true })
  }, [filters.tz])
  return filters.tz ?? usualZone()
}
