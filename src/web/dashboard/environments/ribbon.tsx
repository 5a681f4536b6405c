import { environmentWords as words } from '../words/environments.ts'
import { useLinks } from './links.ts'

/** So that nobody takes an organisation in which flows are tried for the one that visitors see. */
export function Ribbon() {
  const production = useLinks().data?.production
  return production ? <p class="ribbon">{words.ribbon(production.name)}</p> : null
}
