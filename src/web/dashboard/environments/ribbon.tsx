import { useLinks } from './links.ts'

/** Marks a staging organisation, so that nobody takes it for the one that visitors see. */
export function Ribbon() {
  const production = useLinks().data?.production
  return production ? <p class="ribbon">Staging of {production.name}</p> : null
}
