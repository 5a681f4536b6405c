import { environmentWords as words } from '../words/environments.ts'
import { useLinks } from './links.ts'

/** Marks an organisation in which flows are tried, so that nobody takes it for the one that visitors see. */
export function Ribbon() {
  const production = useLinks().data?.production
  return production ? <p class="ribbon">{words.ribbon(production.name)}</p> : null
}
